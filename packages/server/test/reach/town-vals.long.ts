import { afterAll, expect, test } from "bun:test"
import { describeAttacks } from "../attacks/support/describe-attacks.ts"
import { openAiKey, startOpenAiService } from "../support/openai-service.ts"
import { useTownVal } from "./town-vals/town-val.ts"
import { vals2023 } from "./town-vals/vals-2023.ts"
import { vals2026 } from "./town-vals/vals-2026.ts"
import { whenFetched } from "./when-fetched.ts"

const msMax = 240_000
const service = startOpenAiService()
afterAll(() => service.stop())

const env = {
  HAMLET_RUN_SECONDS_MAX: "120",
  HAMLET_OPENAI_URL: service.url,
  HAMLET_OPENAI_KEY: openAiKey,
}

describeAttacks("vals in the style of Val Town", env, (getServer) => {
  test.each([...vals2023, ...vals2026])(
    "$title",
    async (given) => given.check(await useTownVal(getServer(), given)),
    msMax,
  )

  test(
    "use the models of the server with OpenAI's own package, too",
    async () => {
      const val = await getServer().save(getServer().ada, {
        code: `import OpenAI from "npm:openai@6"
          const openai = new OpenAI({
            baseURL: \`\${Deno.env.get("HAMLET_URL")}/v1/openai\`,
            apiKey: Deno.env.get("HAMLET_TOKEN"),
          })
          const ask = { model: "echo", messages: [{ role: "user", content: "hi there" }] }
          export default async () => {
            const { choices } = await openai.chat.completions.create(ask)
            const parts = []
            for await (const chunk of await openai.chat.completions.create({ ...ask, stream: true }))
              parts.push(chunk.choices[0].delta.content)
            return [choices[0].message.content, parts]
          }`,
      })
      await whenFetched(getServer(), val)
      const { json, text } = await getServer().request(val)
      expect(json ?? text).toEqual(["You said: hi there", ["You ", "said: ", "hi ", "there"]])
    },
    msMax,
  )

  test(
    "that need Val Town itself say so at once",
    async () => {
      const server = getServer()
      const addresses = ["oauth/middleware.ts", "set", "getLegacyImportUrl"]
      for (const address of addresses) {
        const val = await server.save(server.ada, {
          code: `import * as it from "https://esm.town/v/std/${address}"\nexport default () => it`,
        })
        const { error } = await server.run(val, [])
        expect(error?.message).toMatch(/: "std\/\w+" is not available here: \w+/)
        const path = `/v1/vals/${val.id}/versions/1/lock`
        const { json } = await server.call("GET", path, { as: server.ada })
        expect(json.state).toBe("failed")
      }
    },
    msMax,
  )

  test("are more than twenty", () => {
    expect(vals2023.length + vals2026.length).toBeGreaterThanOrEqual(20)
  })

  test(
    "have no environment variable with the operator's key",
    async () => {
      const val = await getServer().save(getServer().ada, {
        code: "export default () => JSON.stringify(Deno.env.toObject())",
      })
      const { text } = await getServer().request(val)
      expect(text).toContain("VAL_TOWN_API_KEY")
      expect(text).not.toContain(openAiKey)
    },
    msMax,
  )
})
