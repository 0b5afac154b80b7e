/** Enter sends; Shift and Enter begin a new line, and so does an Enter that ends a composed character. */
import type { KeyboardEvent } from "react";

export const isSendKey = ({ key, shiftKey, nativeEvent }: KeyboardEvent): boolean =>
  key === "Enter" && !shiftKey && !nativeEvent.isComposing;
