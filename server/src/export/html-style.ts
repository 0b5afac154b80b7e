/**
 * The look of an exported document: a page of text, set like a book. Light and dark follow the reader's system;
 * on paper everything that is folded is open, and links show nothing but their words.
 */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fcfbf8; --ink: #23211d; --soft: #6f6a60; --line: #e4e0d6; --tint: #f3f0e8; --leaf: #3e6b48; --alarm: #9c3b2a;
  --serif: "Iowan Old Style", "Palatino Linotype", Palatino, "URW Palladio L", "Book Antiqua", Georgia, "Noto Serif", serif;
  --sans: ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif;
  --mono: ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root { --paper: #191917; --ink: #dedad1; --soft: #969084; --line: #34322d; --tint: #22211e; --leaf: #93bf9c; --alarm: #e08d79; }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; scroll-padding-top: 1.5rem; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.65 var(--serif); text-rendering: optimizeLegibility; overflow-wrap: anywhere;
}
main { max-width: 43rem; margin: 0 auto; padding: 4rem 1.5rem 8rem; }
a { color: var(--leaf); text-decoration-thickness: 1px; text-underline-offset: .2em; text-decoration-color: color-mix(in srgb, currentColor 40%, transparent); }
a:hover { text-decoration-color: currentColor; }
:focus-visible { outline: 2px solid var(--leaf); outline-offset: 3px; border-radius: 2px; }

header { margin-bottom: 3rem; padding-bottom: 1.75rem; border-bottom: 1px solid var(--line); }
h1 { margin: 0 0 .6rem; font-size: 2.125rem; line-height: 1.2; font-weight: 500; letter-spacing: -.012em; text-wrap: balance; }
header p, .facts, .note, .of, .file span, .source span, summary, figcaption, h2.branch { font-family: var(--sans); }
header p { margin: 0; color: var(--soft); font-size: .8125rem; }

section + section { margin-top: 4.5rem; }
h2.branch { margin: 0 0 2.25rem; padding-top: 1.25rem; border-top: 1px solid var(--line); font-size: .8125rem; line-height: 1.6; font-weight: 400; color: var(--soft); }
h2.branch span { color: var(--ink); font-weight: 600; margin-right: .5em; }

article { position: relative; margin: 0 0 2.5rem; }
article:target::before { content: ""; position: absolute; inset: 0 auto 0 -.9rem; width: 3px; border-radius: 2px; background: var(--leaf); }
h3 { display: flex; flex-wrap: wrap; align-items: baseline; gap: .15rem .8rem; margin: 0 0 .55rem; font: 600 .8125rem/1.5 var(--sans); color: var(--ink); }
.assistant > h3 > bdi { color: var(--leaf); }
.facts { margin-left: auto; font-weight: 400; font-size: .75rem; color: var(--soft); }
.facts em { font-style: normal; color: var(--alarm); }
.facts a { color: inherit; text-decoration: none; }
.facts a:hover { text-decoration: underline; }
.of { display: inline-flex; gap: .1rem; font-weight: 400; font-size: .75rem; color: var(--soft); font-variant-numeric: tabular-nums; }
.of a, .of b, .of i { min-width: 1.5em; padding: 0 .35em; border-radius: 1em; text-align: center; text-decoration: none; font-style: normal; font-weight: 500; }
.of b { background: var(--leaf); color: var(--paper); }
.of a:hover { background: var(--tint); }

.user { padding: 1rem 1.25rem 1.1rem; background: var(--tint); border-radius: .5rem; }
.note { margin: 0 0 .6rem; font-size: .8125rem; color: var(--soft); }
.note strong { font-weight: 500; color: var(--ink); }
article.note, .system, .tool, .erased { padding-left: 1.25rem; border-left: 2px solid var(--line); font-size: .9375rem; }
article.note { font-family: inherit; color: inherit; margin-bottom: 2.5rem; }
article.note > .note:last-child, .erased > .note:last-child { margin-bottom: 0; }

.prose > :first-child { margin-top: 0; }
.prose > :last-child { margin-bottom: 0; }
.prose + *, details + *, figure + *, pre + .prose { margin-top: .9rem; }
article > :last-child, article > details:last-child > :last-child { margin-bottom: 0; }
.prose p, .prose ul, .prose ol, .prose blockquote, .prose table { margin: 0 0 .85em; }
.prose h4, .prose h5, .prose h6 { margin: 1.6em 0 .5em; font: 600 1.0625rem/1.4 var(--serif); color: inherit; }
.prose h4 { font-size: 1.3rem; }
.prose h5 { font-size: 1.18rem; }
.prose ul, .prose ol { padding-left: 1.4em; }
.prose li { margin: .2em 0; }
.prose li > p { margin-bottom: .4em; }
.prose li::marker { color: var(--soft); }
.prose blockquote { margin-left: 0; padding-left: 1rem; border-left: 2px solid var(--line); color: var(--soft); }
.prose hr { margin: 2rem auto; width: 4rem; border: 0; border-top: 1px solid var(--line); }
.prose table { display: block; max-width: 100%; overflow-x: auto; border-collapse: collapse; font: .875rem/1.5 var(--sans); }
.prose th, .prose td { padding: .4rem .9rem .4rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: normal; }
.prose th { font-weight: 600; }
.prose .to-right { text-align: right; }
.prose .to-center { text-align: center; }

code, pre { font-family: var(--mono); font-size: .84em; font-variant-ligatures: none; }
:not(pre) > code { padding: .1em .3em; background: var(--tint); border-radius: .25em; }
.user :not(pre) > code { background: var(--paper); }
pre { margin: 0 0 .85em; padding: .85rem 1rem; overflow-x: auto; background: var(--tint); border-radius: .4rem; line-height: 1.55; font-size: .8125rem; tab-size: 4; overflow-wrap: normal; }
pre code { font-size: inherit; }
.user pre { background: var(--paper); }

details { margin: 0 0 .75rem; font-size: .9375rem; }
details > :last-child { margin-bottom: 0; }
summary { display: flex; align-items: baseline; gap: .6em; width: fit-content; max-width: 100%; font-size: .8125rem; color: var(--soft); cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary::before { content: "\\203a"; flex: none; width: .6em; text-align: center; color: var(--leaf); font-size: 1.15em; line-height: 1; }
details[open] > summary { margin-bottom: .6rem; }
details[open] > summary::before { transform: rotate(90deg); }
summary span { min-width: 0; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; opacity: .8; }
summary > bdi { flex: none; max-width: 100%; font-weight: 500; color: var(--ink); overflow-wrap: anywhere; }
details .prose { padding-left: 1rem; border-left: 2px solid var(--line); color: var(--soft); }

img { max-width: 100%; height: auto; border-radius: .4rem; }
figure { margin: 0 0 1rem; }
figcaption, .file span, .source span { font-size: .75rem; color: var(--soft); }
.file, .source { margin: 0 0 .4rem; font: .875rem/1.5 var(--sans); }

@media (max-width: 34rem) {
  body { font-size: 1rem; line-height: 1.6; }
  main { padding: 2rem 1.125rem 5rem; }
  header { margin-bottom: 2rem; padding-bottom: 1.25rem; }
  h1 { font-size: 1.625rem; }
  .user { margin-left: -.5rem; margin-right: -.5rem; padding: .8rem .9rem .9rem; }
  article { margin-bottom: 2rem; }
  .facts { margin-left: 0; width: 100%; }
  .of a, .of b { min-width: 2.1em; line-height: 2.1em; }
}
@media print {
  :root { --paper: #fff; --ink: #000; --soft: #555; --line: #ccc; --tint: #f6f6f4; --leaf: #000; }
  body { font-size: 10.5pt; }
  main { max-width: none; padding: 0; }
  h2.branch, h3 { break-after: avoid; }
  pre, figure, table { break-inside: avoid; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  summary { margin-bottom: .4rem; }
  details::details-content { content-visibility: visible; height: auto; }
  a { text-decoration: none; }
}
`;
