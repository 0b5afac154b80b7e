// What a source file reaches for: the modules it imports, and the clocks, chances and timers it takes from
// the world. Read from the syntax tree, so that comments and strings never count.

import { posix } from "node:path";
import ts from "typescript";

/** One import: `target` is a package's specifier, or a path in the workspace without its extension. */
export type Import = { specifier: string; target: string; isTypeOnly: boolean; line: number };

/** One use of something global that makes a run unrepeatable, such as `Date.now`. */
export type Reach = { name: string; line: number };

export type Source = { path: string; imports: Import[]; reaches: Reach[] };

const GLOBAL_OBJECTS = new Set(["globalThis", "window", "self", "global"]);
const GLOBAL_NAMES = new Set(["setTimeout", "setInterval", "setImmediate", "queueMicrotask", "WebSocket"]);
const GLOBAL_MEMBERS = new Set([
  "Date.now",
  "Math.random",
  "performance.now",
  "crypto.randomUUID",
  "crypto.getRandomValues",
]);

/** Reads one file. `path` is relative to the workspace, such as `shared/src/tree.ts`. */
export function readSource(path: string, text: string): Source {
  const kind = path.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, kind);
  const nodes = descendants(file);
  const lineOf = (node: ts.Node) => file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
  const declared = new Set(nodes.filter(isDeclaredName).map((name) => name.text));

  const imports = nodes.flatMap((node) => {
    const found = importOf(node);
    return found ? [{ ...found, target: targetOf(path, found.specifier), line: lineOf(node) }] : [];
  });
  const reaches = nodes.flatMap((node) => {
    const name = reachOf(node, declared);
    return name ? [{ name, line: lineOf(node) }] : [];
  });
  return { path, imports, reaches };
}

function descendants(root: ts.Node): ts.Node[] {
  const found: ts.Node[] = [];
  const visit = (node: ts.Node) => {
    found.push(node);
    ts.forEachChild(node, visit);
  };
  visit(root);
  return found;
}

function targetOf(path: string, specifier: string): string {
  if (!specifier.startsWith(".")) return specifier;
  return posix.join(posix.dirname(path), specifier).replace(/\.[jt]sx?$/, "");
}

// --- imports -----------------------------------------------------------------------------------------------

function importOf(node: ts.Node): { specifier: string; isTypeOnly: boolean } | undefined {
  // Only `import type` vanishes from what is built; `import { type A }` still loads the module.
  if (ts.isImportDeclaration(node)) {
    return importFrom(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
  }
  if (ts.isExportDeclaration(node)) return importFrom(node.moduleSpecifier, node.isTypeOnly);
  if (ts.isExternalModuleReference(node)) return importFrom(node.expression, false);
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    return importFrom(node.argument.literal, true);
  }
  if (ts.isCallExpression(node) && isLoader(node.expression)) return importFrom(node.arguments[0], false);
  return undefined;
}

function importFrom(node: ts.Node | undefined, isTypeOnly: boolean) {
  return node && ts.isStringLiteralLike(node) ? { specifier: node.text, isTypeOnly } : undefined;
}

function isLoader(callee: ts.Node): boolean {
  return (
    callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === "require")
  );
}

// --- reaches -----------------------------------------------------------------------------------------------

function reachOf(node: ts.Node, declared: Set<string>): string | undefined {
  if (ts.isPropertyAccessExpression(node)) return memberReachOf(node, declared);
  if (ts.isNewExpression(node) && isGlobal(node.expression, "Date", declared)) {
    return node.arguments?.length ? undefined : "new Date()";
  }
  if (ts.isCallExpression(node) && isGlobal(node.expression, "Date", declared)) return "Date()";
  const isValue = ts.isIdentifier(node) && GLOBAL_NAMES.has(node.text) && isReference(node);
  return isValue && !declared.has(node.text) ? node.text : undefined;
}

function memberReachOf(node: ts.PropertyAccessExpression, declared: Set<string>): string | undefined {
  const owner = nameOf(node.expression);
  if (owner === undefined || declared.has(owner)) return undefined;
  if (GLOBAL_OBJECTS.has(owner)) return GLOBAL_NAMES.has(node.name.text) ? node.name.text : undefined;
  const member = `${owner}.${node.name.text}`;
  return GLOBAL_MEMBERS.has(member) ? member : undefined;
}

/** `Date` for both `Date` and `globalThis.Date`. */
function nameOf(node: ts.Expression): string | undefined {
  if (ts.isIdentifier(node)) return node.text;
  const isOfGlobal =
    ts.isPropertyAccessExpression(node) &&
    ts.isIdentifier(node.expression) &&
    GLOBAL_OBJECTS.has(node.expression.text);
  return isOfGlobal ? node.name.text : undefined;
}

function isGlobal(node: ts.Expression, name: string, declared: Set<string>): boolean {
  return nameOf(node) === name && !declared.has(name);
}

function isDeclaredName(node: ts.Node): node is ts.Identifier {
  if (!ts.isIdentifier(node)) return false;
  const { parent } = node;
  const isDeclaration =
    ts.isVariableDeclaration(parent) ||
    ts.isParameter(parent) ||
    ts.isBindingElement(parent) ||
    ts.isFunctionDeclaration(parent) ||
    ts.isImportSpecifier(parent) ||
    ts.isImportClause(parent);
  return isDeclaration && parent.name === node;
}

/** Whether the name stands for a value here: not a key, a member's name, or a part of a type. */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  if (ts.isPartOfTypeNode(node) || ts.isTypeQueryNode(parent)) return false;
  const isName = "name" in parent && parent.name === node;
  const isRenamed = "propertyName" in parent && parent.propertyName === node;
  return !isName && !isRenamed;
}
