/** A labelled block that opens: for what is seldom read. */
import type { ReactNode } from "react";

export const Block = ({ label, children }: { label: string; children: ReactNode }) => (
  <details className="block">
    <summary>{label}</summary>
    <pre>{children}</pre>
  </details>
);

export const textOfJson = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
