import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { openSandboxes } from "@hamlet/sandbox/testing"
import { formatterLimits, SandboxedFormatter } from "./sandboxed-formatter.ts"

let open: Awaited<ReturnType<typeof openSandboxes>>
let formatter: SandboxedFormatter
const errors: unknown[] = []

beforeAll(async () => {
  open = await openSandboxes({ isolation: "auto" })
  formatter = new SandboxedFormatter(
    async () => open.sandboxes,
    (error) => errors.push(error),
  )
})

afterAll(async () => {
  await formatter.stop()
  await open[Symbol.asyncDispose]()
  expect(errors).toEqual([])
})

const usual = { semicolons: true, quotes: "double" } as const
const format = (
  code: string,
  style = usual as { semicolons: boolean; quotes: "double" | "single" },
) => formatter.format(code, style, "ada")

describe("SandboxedFormatter", () => {
  test("breaks lines, indents, and keeps to the style", async () => {
    const code = `export default function (first:string,second:string,third:string,fourth:string){return <p>{first}</p>}`
    expect(await format(code)).toEqual({
      kind: "formatted",
      code: `export default function (
  first: string,
  second: string,
  third: string,
  fourth: string,
) {
  return <p>{first}</p>;
}
`,
    })
    expect(await format(`const a = "b";`, { semicolons: false, quotes: "single" })).toEqual({
      kind: "formatted",
      code: "const a = 'b'\n",
    })
  })

  test("says where a syntax error is", async () => {
    expect(await format("const a = 1\nconst = 2\n")).toEqual({
      kind: "refused",
      reason: expect.stringMatching(/^.{5,}\(line 2\)$/) as unknown as string,
    })
  })

  test("survives hostile code, and reports no error of the server", async () => {
    const deep = `${"(".repeat(50_000)}1${")".repeat(50_000)}`
    for (const code of [deep, "\0\u2028\ud800", `\`\${${"`${".repeat(5_000)}`])
      expect(["formatted", "refused"]).toContain((await format(code)).kind)
    expect(errors).toEqual([])
    expect(await format("a")).toEqual({ kind: "formatted", code: "a;\n" })
  })

  test("refuses an owner who formats too much at once, and no other", async () => {
    const { perKeyMax } = formatterLimits
    const outcomes = await Promise.allSettled([
      ...Array.from({ length: perKeyMax + 2 }, () => format("a")),
      formatter.format("b", usual, "bob"),
    ])
    expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(2)
    expect(outcomes.at(-1)).toMatchObject({ status: "fulfilled", value: { code: "b;\n" } })
    expect(await format("c")).toMatchObject({ kind: "formatted" })
  })
})
