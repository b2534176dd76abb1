import { expect, test } from "bun:test"
import { describeAttacks } from "../attacks/support/describe-attacks.ts"
import { whenFetched } from "./when-fetched.ts"

const msMax = 240_000

/**
 * Packages that need more than an import, as they come from the registry of this machine, each in a
 * val of its own. `compat/` has those that vals use most.
 */
const vals: readonly {
  readonly name: string
  readonly code: string
  readonly answers: string
}[] = [
  {
    name: "preact and its renderer",
    code: `/** @jsxImportSource npm:preact@10 */
      import { render } from "npm:preact-render-to-string@6"
      import { useState } from "npm:preact@10/hooks"
      function Counter({ start }: { start: number }) { const [n] = useState(start); return <b class="n">{n}</b> }
      export default () => new Response(render(<Counter start={3} />), { headers: { "content-type": "text/html" } })`,
    answers: `<b class="n">3</b>`,
  },
  {
    name: "@resvg/resvg-wasm, whose WebAssembly the val itself finds,",
    code: `import { initWasm, Resvg } from "npm:@resvg/resvg-wasm@2.6.2"
      import { createRequire } from "node:module"
      import { readFileSync } from "node:fs"
      const require = createRequire(import.meta.url)
      await initWasm(readFileSync(require.resolve("@resvg/resvg-wasm/index_bg.wasm")))
      const image = new Resvg('<svg xmlns="http://www.w3.org/2000/svg" width="3" height="2"/>').render()
      export default () => image.width + require("node:path").sep + image.height`,
    answers: "3/2",
  },
  {
    name: "i18next-fs-backend, with a top-level await,",
    code: `import Backend from "npm:i18next-fs-backend@2"
      export default () => Backend.type`,
    answers: "backend",
  },
]

describeAttacks("reach/packages", { HAMLET_RUN_SECONDS_MAX: "120" }, (getServer) => {
  test.each(vals)(
    "$name runs in a val",
    async ({ code, answers }) => {
      const server = getServer()
      const val = await server.save(server.ada, { code })
      await whenFetched(server, val)
      const { status, text } = await server.request(val)
      expect(`${status} ${text}`).toBe(`200 ${answers}`)
      const { json } = await server.call("GET", `/v1/vals/${val.id}/versions/1/lock`, {
        as: server.ada,
      })
      expect(json).toMatchObject({ state: "ready" })
      for (const { resolved } of json.imports)
        expect(resolved).toMatch(/^npm:(@\w+\/)?[\w.-]+@\d+\.\d+\.\d+/)
    },
    msMax,
  )

  test(
    "a missing package is named in the error, and other vals of the account work",
    async () => {
      const server = getServer()
      const val = await server.save(server.ada, {
        code: `import x from "npm:this-package-does-not-exist-4711@1"\nexport default () => x`,
      })
      await whenFetched(server, val)
      const response = await server.request(val, {
        headers: { authorization: `Bearer ${server.ada.token}`, accept: "application/json" },
      })
      expect(response.status).toBe(502)
      expect(response.json.runError.message).toContain(
        `Cannot import "npm:this-package-does-not-exist-4711@1": `,
      )
      const { json } = await server.call("GET", `/v1/vals/${val.id}/versions/1/lock`, {
        as: server.ada,
      })
      expect(json).toMatchObject({
        state: "failed",
        imports: [{ specifier: "npm:this-package-does-not-exist-4711@1", resolved: null }],
      })
    },
    msMax,
  )

  test(
    "a file that the val does not have is refused in the run",
    async () => {
      const server = getServer()
      const val = await server.save(server.ada, {
        code: `import { help } from "./helpers.ts"\nexport default () => help()`,
      })
      const { json: run } = await server.request(val, {
        headers: { authorization: `Bearer ${server.ada.token}`, accept: "application/json" },
      })
      expect(run.runError.message).toEqual(
        expect.stringMatching(
          /^Cannot import ".*@1-main\/helpers.ts": version 1 of ".*" has no file "helpers.ts"$/,
        ),
      )
    },
    msMax,
  )
})
