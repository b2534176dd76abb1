import { type TemplateSource, toTemplateFile } from "../template.ts"

const mainTs = `import { Hono } from "npm:hono@4"
import { cors } from "npm:hono@4/cors"
import { serveStatic } from "./lib/static.ts"
import { colours } from "./routes/colours.ts"

const app = new Hono()

app.use("/api/*", cors())
app.route("/api/colours", colours)
app.get("/*", (context) => serveStatic(context.req.path))
app.onError((error, context) => {
  console.error(error)
  return context.json({ problem: "Something went wrong" }, 500)
})

export default app.fetch
`

const routesColoursTs = `import { Hono } from "npm:hono@4"
import all from "../data/colours.json" with { type: "json" }

export const colours = new Hono()

// The first route that matches responds, so "random" is not taken for a name.
colours.get("/", (context) => {
  const mood = context.req.query("mood")
  return context.json(mood === undefined ? all : all.filter((colour) => colour.mood === mood))
})

colours.get("/random", (context) => context.json(all[Math.floor(Math.random() * all.length)]))

colours.get("/:name", (context) => {
  const found = all.find(({ name }) => name === context.req.param("name"))
  return found ? context.json(found) : context.json({ problem: "There is no such colour" }, 404)
})
`

const libStaticTs = `import { serveFile } from "/std/utils"

/** Serves the files in public/, and nothing else of this val. */
export async function serveStatic(path: string): Promise<Response> {
  try {
    return await serveFile("public" + (path === "/" ? "/index.html" : path))
  } catch {
    return new Response("There is no such page", { status: 404 })
  }
}
`

const dataColoursJson = `[
  { "name": "moss", "hex": "#5c7a3d", "mood": "calm" },
  { "name": "harbour", "hex": "#2f5d7c", "mood": "calm" },
  { "name": "oat", "hex": "#d9c7a3", "mood": "calm" },
  { "name": "ember", "hex": "#d1502f", "mood": "warm" },
  { "name": "apricot", "hex": "#f2a65a", "mood": "warm" },
  { "name": "brick", "hex": "#9c3b2e", "mood": "warm" },
  { "name": "glacier", "hex": "#a9d3e0", "mood": "cool" },
  { "name": "plum", "hex": "#6b3a63", "mood": "cool" },
  { "name": "slate", "hex": "#55606e", "mood": "cool" }
]
`

const publicIndexHtml = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>Colours</title>
    <link rel="stylesheet" href="/style.css">
    <script type="module" src="/app.js"></script>
  </head>
  <body>
    <h1>Colours</h1>
    <p>An API with a page. Try <a href="/api/colours">/api/colours</a>,
      <a href="/api/colours?mood=warm">?mood=warm</a> or
      <a href="/api/colours/random">/api/colours/random</a>.</p>
    <label>Mood
      <select>
        <option value="">any</option>
        <option>calm</option>
        <option>warm</option>
        <option>cool</option>
      </select>
    </label>
    <ul></ul>
  </body>
</html>
`

const publicAppJs = `const select = document.querySelector("select")
const list = document.querySelector("ul")

async function show() {
  const query = select.value === "" ? "" : "?mood=" + select.value
  const colours = await (await fetch("/api/colours" + query)).json()
  list.replaceChildren(
    ...colours.map(({ name, hex }) => {
      const item = document.createElement("li")
      item.style.setProperty("--colour", hex)
      item.textContent = name + " " + hex
      return item
    }),
  )
}

select.onchange = show
await show()
`

const publicStyleCss = `body { font: 17px/1.5 system-ui; max-width: 44rem; margin: 3rem auto; padding: 0 1rem }
select { font: inherit; margin-left: .5rem }
ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); gap: 1rem; padding: 0; list-style: none }
li { border-top: 4.5rem solid var(--colour); padding: .4rem 0 }
`

const readmeMd = `# Colours

A [Hono](https://hono.dev) app with routes in files of their own and static files.

| file | what it is for |
|---|---|
| \`main.ts\` | the app: middleware, routes, static files, errors |
| \`routes/colours.ts\` | the routes below \`/api/colours\` |
| \`data/colours.json\` | the data, imported as a module |
| \`public/\` | what visitors load: page, style and script |
| \`lib/static.ts\` | serves the files in \`public/\` |

A new group of routes is a file in \`routes/\` and a line \`app.route(…)\` in \`main.ts\`.
`

/** A Hono app with static files. */
export const honoApp: TemplateSource = {
  name: "colours",
  privacy: "unlisted",
  files: [
    toTemplateFile("main.ts", mainTs, "http"),
    toTemplateFile("routes/colours.ts", routesColoursTs),
    toTemplateFile("lib/static.ts", libStaticTs),
    toTemplateFile("data/colours.json", dataColoursJson),
    toTemplateFile("public/index.html", publicIndexHtml),
    toTemplateFile("public/app.js", publicAppJs, "file"),
    toTemplateFile("public/style.css", publicStyleCss),
    toTemplateFile("README.md", readmeMd),
  ],
  usesPackages: true,
}
