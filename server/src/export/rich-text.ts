/**
 * Message text, which is Markdown by people and models, as HTML that can do no harm: raw HTML is shown as text,
 * an address becomes a link only where it is http, https or mailto, and a picture is a link as well, unless the
 * text holds it as data: a document that is opened fetches nothing.
 */
import createMarkdown, { type MarkdownIt } from "markdown-it";
import { isPicture, linkOf } from "./wording.js";

/** Above this a text is shown as it stands: nobody wrote it by hand. */
const MAX_LENGTH = 512 * 1024;

const createRenderer = (): MarkdownIt => {
  const markdown = createMarkdown({ html: false, linkify: true, breaks: true });
  markdown.validateLink = (url) => linkOf(url) !== null || isPicture(url);
  markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
  const { rules } = markdown.renderer;
  rules.link_open = (tokens, index, options, _env, self) => {
    const token = tokens[index];
    // An empty address, as in `[here]()`, is not asked about, and would lead to the document itself.
    if (token?.attrGet("href") === "") token.attrs = null;
    else token?.attrSet("rel", "noopener noreferrer nofollow");
    return self.renderToken(tokens, index, options);
  };
  const { escapeHtml } = markdown.utils;
  rules.image = (tokens, index) => {
    const token = tokens[index];
    const url = String(token?.attrGet("src") ?? "");
    const words = token?.content ?? "";
    if (isPicture(url)) return `<img src="${escapeHtml(url)}" alt="${escapeHtml(words)}">`;
    const name = words === "" ? "picture" : words;
    if (url === "") return escapeHtml(name);
    return `<a href="${escapeHtml(url)}" rel="noopener noreferrer nofollow">${escapeHtml(name)}</a>`;
  };
  // The document's own headings are of levels one to three.
  for (const name of ["heading_open", "heading_close"])
    rules[name] = (tokens, index, options, _env, self) => {
      const token = tokens[index];
      if (token !== undefined) token.tag = `h${Math.min(6, Number(token.tag.slice(1)) + 3)}`;
      return self.renderToken(tokens, index, options);
    };
  // A style attribute would need a weaker policy than the document has.
  for (const name of ["th_open", "td_open"])
    rules[name] = (tokens, index, options, _env, self) => {
      const token = tokens[index];
      const [, side] = /text-align:(\w+)/.exec(String(token?.attrGet("style") ?? "")) ?? [];
      if (token !== undefined) token.attrs = side === undefined ? null : [["class", `to-${side}`]];
      return self.renderToken(tokens, index, options);
    };
  return markdown;
};

const renderer = createRenderer();

/** The text as HTML of paragraphs, lists, code and so on. */
export const richText = (text: string): string =>
  text.length > MAX_LENGTH ? `<pre>${escapeHtml(text)}</pre>\n` : renderer.render(visible(text));

/** For content and for attributes in double quotes. */
export const escapeHtml = (text: string): string => renderer.utils.escapeHtml(visible(text));

/** Lines end at `\n` alone, and controls, which no document may hold, are pictures of them. */
export const visible = (text: string): string =>
  text.replace(/\r\n?/g, "\n").replace(/(?![\n\t])\p{Cc}/gu, (char) => pictureOf(char.charCodeAt(0)));

const pictureOf = (code: number): string => {
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
};
