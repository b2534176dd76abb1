import type { PackageCase } from "../package-case.ts"

/** Packages that read and write HTML, Markdown and code. */
export const documents: readonly PackageCase[] = [
  {
    code: `import * as cheerio from "npm:cheerio@1.2.0"
export default () => {
  const $ = cheerio.load("<ul><li>a<li class=x>b</ul>")
  return [$("li.x").text(), $("li").length]
}`,
    returns: ["b", 2],
  },
  {
    code: `import { JSDOM } from "npm:jsdom@30.1.3"
export default () => {
  const { document } = new JSDOM("<p>Hi <b>Ada</b></p>").window
  return document.querySelector("p").textContent
}`,
    returns: "Hi Ada",
  },
  {
    code: `import { JSDOM } from "npm:jsdom@26.1.0"
export default () => new JSDOM("<script>document.title = 1 + 1</script>", { runScripts: "dangerously" }).window.document.title`,
    returns: "2",
  },
  {
    code: `import { parseHTML } from "npm:linkedom@0.18.14"
export default () => {
  const { document } = parseHTML("<ul><li>a</li></ul>")
  document.querySelector("ul").append(document.createElement("li"))
  return document.querySelectorAll("li").length
}`,
    returns: 2,
  },
  {
    code: `import { marked } from "npm:marked@18.2.0"
export default () => marked.parse("# Hi *there*")`,
    returns: "<h1>Hi <em>there</em></h1>\n",
  },
  {
    code: `import { remark } from "npm:remark@15.0.1"
import html from "npm:remark-html@16.0.1"
export default async () => String(await remark().use(html).process("**a**"))`,
    returns: "<p><strong>a</strong></p>\n",
  },
  {
    code: `import { rehype } from "npm:rehype@13.0.2"
export default async () => String(await rehype().data("settings", { fragment: true }).process("<p>a"))`,
    returns: "<p>a</p>",
  },
  {
    code: `import { unified } from "npm:unified@11.0.5"
import remarkParse from "npm:remark-parse@11.0.0"
import remarkRehype from "npm:remark-rehype@11.1.2"
import rehypeStringify from "npm:rehype-stringify@10.0.1"
export default async () => String(await unified().use(remarkParse).use(remarkRehype).use(rehypeStringify).process("- a"))`,
    returns: "<ul>\n<li>a</li>\n</ul>",
  },
  {
    code: `import MarkdownIt from "npm:markdown-it@15.0.3"
export default () => new MarkdownIt({ linkify: true }).render("https://example.com")`,
    returns: '<p><a href="https://example.com">https://example.com</a></p>\n',
  },
  {
    code: `import hljs from "npm:highlight.js@11.12.0"
export default () => hljs.highlight("let a", { language: "javascript" }).value`,
    returns: '<span class="hljs-keyword">let</span> a',
  },
  {
    code: `import Prism from "npm:prismjs@1.30.0"
export default () => Prism.highlight("let a", Prism.languages.javascript, "javascript")`,
    returns: '<span class="token keyword">let</span> a',
  },
  {
    code: `import { codeToHtml } from "npm:shiki@4.6.0"
export default async () => (await codeToHtml("let a", { lang: "js", theme: "github-dark" })).startsWith("<pre class=\\"shiki")`,
    returns: true,
  },
  {
    code: `import TurndownService from "npm:turndown@7.2.5"
export default () => new TurndownService().turndown("<h1>Hi</h1><p><b>a</b></p>")`,
    returns: "Hi\n==\n\n**a**",
  },
  {
    code: `import sanitizeHtml from "npm:sanitize-html@2.18.1"
export default () => sanitizeHtml("<b onclick=x()>a</b><script>x()</script>")`,
    returns: "<b>a</b>",
    isInTests: true,
  },
  {
    code: `import createDOMPurify from "npm:dompurify@3.4.17"
import { JSDOM } from "npm:jsdom@26.1.0"
export default () => createDOMPurify(new JSDOM("").window).sanitize("<img src=x onerror=y()>")`,
    returns: '<img src="x">',
  },
  {
    code: `import ts from "npm:typescript@5.9.3"
export default () => ts.transpileModule("const a: number = 1", { compilerOptions: { target: "ESNext" } }).outputText.trim()`,
    returns: "const a = 1;",
  },
  {
    code: `import * as prettier from "npm:prettier@3.9.10"
export default () => prettier.format("a  =  1", { parser: "babel" })`,
    returns: "a = 1;\n",
  },
  {
    code: `import * as esbuild from "npm:esbuild-wasm@0.28.2/esm/browser.js"
import { createRequire } from "node:module"
import { readFileSync } from "node:fs"
export default async () => {
  const wasm = createRequire(import.meta.url).resolve("esbuild-wasm/esbuild.wasm")
  await esbuild.initialize({ wasmModule: await WebAssembly.compile(readFileSync(wasm)), worker: false })
  return (await esbuild.transform("let a: number = 1", { loader: "ts" })).code
}`,
    returns: "let a = 1;\n",
  },
  {
    code: `import * as esbuild from "npm:esbuild-wasm@0.28.2"
export default async () => (await esbuild.transform("let a: number = 1", { loader: "ts" })).code`,
    returns: "let a = 1;\n",
  },
  {
    code: `import { rollup } from "npm:@rollup/wasm-node@4.67.4"
export default async () => {
  const plugin = { name: "a", resolveId: (id) => id, load: (id) => id === "a" ? "export * from 'b'" : "export const b = 1" }
  return (await (await rollup({ input: "a", plugins: [plugin] })).generate({ format: "es" })).output[0].code
}`,
    returns: "const b = 1;\n\nexport { b };\n",
  },
]
