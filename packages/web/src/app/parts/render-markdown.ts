import { escapeHtml } from "@hamlet/contract/escape-html"
import purifier from "dompurify"
import { Marked } from "marked"
import { highlight, type Language } from "../../ui/code/highlight.ts"
import { toSlug } from "../documentation/to-slug.ts"

const languages: ReadonlyMap<string, Language> = new Map(
  Object.entries({
    ts: ["js", "jsx", "ts", "tsx", "javascript", "typescript"],
    json: ["json"],
    shell: ["bash", "sh", "shell"],
  } as const).flatMap(([language, names]) =>
    names.map((name) => [name, language as Language] as const),
  ),
)

/** Whether the text that is being rendered is ours: the documentation. */
let isOurs = false

const marked = new Marked({
  gfm: true,
  breaks: false,
  renderer: {
    code({ text, lang = "" }) {
      const name = lang.split(/\s/, 1)[0]?.toLowerCase() ?? ""
      const parts = highlight(text, languages.get(name) ?? "text")
      const html = parts.map((part) =>
        part.kind === "plain"
          ? escapeHtml(part.text)
          : `<span class="code-${part.kind}">${escapeHtml(part.text)}</span>`,
      )
      return `<pre><code>${html.join("")}</code></pre>`
    },
    heading({ tokens, depth, text }) {
      const id = isOurs ? ` id="${toSlug(text)}"` : ""
      return `<h${depth}${id}>${this.parser.parseInline(tokens)}</h${depth}>`
    },
    // A field that cannot be changed; a sign says the same.
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
})

/** Allows text, lists, tables, code and links; no forms, frames, or anything that loads content. */
const rules = {
  ALLOWED_TAGS: (
    "a b blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q s samp span strong sub summary sup " +
    "table tbody td th thead tr u ul var"
  ).split(" "),
  ALLOWED_ATTR: ["align", "alt", "class", "colspan", "href", "rowspan", "src", "start", "title"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_TRUSTED_TYPE: true,
} as const

purifier.addHook("afterSanitizeAttributes", (node) => {
  // Wide content scrolls, and a scrollable area needs keyboard access.
  if (node.tagName === "PRE" || node.tagName === "TABLE") node.setAttribute("tabindex", "0")
  if (isOurs) {
    linkDocs(node)
    return
  }
  // Only the colours of code: other classes could cover the page.
  if (!/^code-(?:key|string|number|word|comment)$/.test(node.getAttribute("class") ?? ""))
    node.removeAttribute("class")
  // The sign of a task replaces the bullet.
  if (node.tagName === "LI" && /^[☑☐] /.test(node.textContent ?? ""))
    node.setAttribute("class", "task")
  if (node.tagName === "A") {
    const href = node.getAttribute("href") ?? ""
    // External pages open in another tab, without a referrer.
    if (!/^(?:https?:|mailto:|\/(?!\/)|#)/i.test(href)) node.removeAttribute("href")
    node.setAttribute("target", "_blank")
    node.setAttribute("rel", "noopener noreferrer nofollow ugc")
  }
  // Images become links: loading them would tell other servers who reads this.
  if (node.tagName === "IMG") toLink(node)
})

/** Renders Markdown as safe HTML: a `TrustedHTML` where the browser has that. */
export function renderMarkdown(text: string): unknown {
  return purifier.sanitize(parse(text), {
    ...rules,
    ALLOWED_TAGS: [...rules.ALLOWED_TAGS],
    ALLOWED_ATTR: [...rules.ALLOWED_ATTR],
  })
}

/**
 * Renders a page of the documentation as safe HTML. Headings have names, links between pages work,
 * and pictures are shown.
 */
export function renderDoc(text: string): unknown {
  isOurs = true
  try {
    return purifier.sanitize(parse(text), {
      ...rules,
      ALLOWED_TAGS: [...rules.ALLOWED_TAGS],
      ALLOWED_ATTR: [...rules.ALLOWED_ATTR, "id"],
      // Headings have names such as "links", which are also properties of the document.
      SANITIZE_DOM: false,
    })
  } finally {
    isOurs = false
  }
}

/** Pages refer to each other, and to files of the repository, which the server does not serve. */
function linkDocs(node: Element): void {
  if (node.tagName === "IMG") {
    const [, name] = /^images\/([a-z-]+\.webp)$/.exec(node.getAttribute("src") ?? "") ?? []
    node.setAttribute("src", name === undefined ? "" : `/docs/images/${name}`)
  }
  if (node.tagName !== "A") return
  const href = node.getAttribute("href") ?? ""
  const [, page, heading = ""] = /^([a-z-]+)\.md(#.*)?$/.exec(href) ?? []
  if (page !== undefined) node.setAttribute("href", `/docs/${page}${heading}`)
  else if (/^https?:/.test(href)) {
    node.setAttribute("target", "_blank")
    node.setAttribute("rel", "noopener noreferrer")
  } else if (!href.startsWith("#")) node.removeAttribute("href")
}

/** Thousands of nested quotes overflow the parser: such a text is shown unrendered. */
function parse(text: string): string {
  try {
    return marked.parse(text, { async: false })
  } catch {
    return `<pre>${escapeHtml(text)}</pre>`
  }
}

function toLink(image: Element): void {
  const link = document.createElement("a")
  const source = image.getAttribute("src") ?? ""
  link.textContent = image.getAttribute("alt") || source || "picture"
  if (/^https?:/i.test(source)) {
    link.setAttribute("href", source)
    link.setAttribute("target", "_blank")
    link.setAttribute("rel", "noopener noreferrer nofollow ugc")
  }
  image.replaceWith(link)
}
