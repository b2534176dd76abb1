import { describe, expect, test } from "bun:test"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { cleanEnv, hamletPath } from "../support/processes.ts"
import { useStage } from "../support/shared-stage.ts"
import type { Person } from "../support/stage.ts"

describe("mcp", () => {
  const stage = useStage()

  async function connect(person: Person, args: readonly string[] = []) {
    const client = new Client({ name: "test", version: "1" })
    const env = {
      ...cleanEnv(),
      HAMLET_CONFIG_DIR: person.configDir,
      HAMLET_URL: stage().url,
      HAMLET_TOKEN: person.token,
    }
    await client.connect(
      new StdioClientTransport({
        command: hamletPath,
        args: ["mcp", ...args],
        env,
        cwd: person.folder,
      }),
    )
    return client
  }

  test("mcp passes the tools of the server on, and ends with its input", async () => {
    const ada = await stage().person("mcp1")
    const client = await connect(ada)
    expect(client.getInstructions()).toContain("user mcp1")
    const code = "export default (a, b) => a + b"
    await client.callTool({ name: "create_val", arguments: { name: "adder", code } })
    const call = { name: "run_val", arguments: { val: "adder", args: [1, 2] } }
    expect((await client.callTool(call)).structuredContent).toMatchObject({ returnValue: "3" })
    const missing = await client.callTool({ name: "read_val", arguments: { val: "nothing" } })
    expect(missing.isError).toBe(true)
    await client.close()
    expect((await ada.client.getValByName({ username: "mcp1", val_name: "adder" })).code).toBe(code)
  })

  test("mcp --read-only offers only tools that change nothing", async () => {
    const client = await connect(await stage().person("mcp2"), ["--read-only"])
    const { tools } = await client.listTools()
    expect(tools.map(({ annotations }) => annotations?.readOnlyHint)).not.toContain(false)
    expect(tools.map(({ name }) => name)).toContain("read_val")
    await client.close()
  })

  test("mcp says that the server does not accept the token", async () => {
    const nobody = await stage().holder("x".repeat(40))
    expect(await nobody.hamlet(["mcp"])).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining("does not accept the token"),
    })
  })
})
