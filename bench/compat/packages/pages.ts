import type { PackageCase } from "../package-case.ts"

/** Renderers of pages: components and templates. */
export const pages: readonly PackageCase[] = [
  {
    code: `/** @jsxImportSource npm:react@19.3.1 */
import { useState } from "npm:react@19.3.1"
import { renderToString } from "npm:react-dom@19.3.1/server"
function Counter({ start }) { const [n] = useState(start); return <b className="n">{n}</b> }
export default () => renderToString(<Counter start={3} />)`,
    returns: '<b class="n">3</b>',
    isInTests: true,
  },
  {
    code: `import { createElement, Suspense } from "npm:react@19.3.1"
import { renderToReadableStream } from "npm:react-dom@19.3.1/server"
export default async () => new Response(await renderToReadableStream(createElement(Suspense, null, createElement("i", null, "x")))).text()`,
    returns: "<!--$--><i>x</i><!--/$-->",
  },
  {
    code: `/** @jsxImportSource npm:preact@10.27.2 */
import { render } from "npm:preact-render-to-string@6.6.3"
import { useState } from "npm:preact@10.27.2/hooks"
function Counter({ start }) { const [n] = useState(start); return <b class="n">{n}</b> }
export default () => render(<Counter start={3} />)`,
    returns: '<b class="n">3</b>',
  },
  {
    code: `import { createSSRApp, h, ref } from "npm:vue@3.5.45"
import { renderToString } from "npm:@vue/server-renderer@3.5.45"
export default () => renderToString(createSSRApp({ setup() { const n = ref(1); return () => h("b", n.value) } }))`,
    returns: "<b>1</b>",
  },
  {
    code: `import { compile } from "npm:svelte@5.57.3/compiler"
export default () => compile("<script>let { n } = $props()</script><b>{n}</b>", { generate: "server" }).js.code.includes("<b>")`,
    returns: true,
  },
  {
    code: `import { createComponent, renderToString, ssr } from "npm:solid-js@1.9.19/web"
export default () => renderToString(() => ssr("<b>1</b>"))`,
    returns: "<b>1</b>",
  },
  {
    code: `import Handlebars from "npm:handlebars@4.7.10"
export default () => Handlebars.compile("{{#each plays}}<li>{{this}}</li>{{/each}}")({ plays: ["A & B", "C"] })`,
    returns: "<li>A &amp; B</li><li>C</li>",
    isInTests: true,
  },
  {
    code: `import Mustache from "npm:mustache@4.2.0"
export default () => Mustache.render("Hi {{name}}{{#loud}}!{{/loud}}", { name: "Ada", loud: true })`,
    returns: "Hi Ada!",
  },
  {
    code: `import ejs from "npm:ejs@7.0.2"
export default () => ejs.render("<% for (const n of list) { %><i><%= n %></i><% } %>", { list: [1, 2] })`,
    returns: "<i>1</i><i>2</i>",
  },
  {
    code: `import pug from "npm:pug@3.0.4"
export default () => pug.render("ul\\n  each n in list\\n    li= n", { list: [1, 2] })`,
    returns: "<ul><li>1</li><li>2</li></ul>",
  },
  {
    code: `import mjml2html from "npm:mjml@5.4.1"
export default async () => (await mjml2html("<mjml><mj-body><mj-text>Hi</mj-text></mj-body></mjml>")).html.includes("Hi")`,
    returns: true,
  },
  {
    code: `import mjml2html from "npm:mjml@4.15.3"
export default () => mjml2html("<mjml><mj-body><mj-text>Hi</mj-text></mj-body></mjml>").html.includes("Hi")`,
    returns: true,
  },
  {
    code: `import postcss from "npm:postcss@8.5.32"
import autoprefixer from "npm:autoprefixer@10.6.2"
export default async () => (await postcss([autoprefixer({ overrideBrowserslist: ["Safari 8"] })]).process("a{user-select:none}", { from: undefined })).css`,
    returns: "a{-webkit-user-select:none;user-select:none}",
  },
]
