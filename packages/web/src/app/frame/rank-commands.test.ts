import { expect, test } from "bun:test"
import { rankCommands } from "./rank-commands.ts"

const labels = ["Your vals", "Runs", "New val", "Account", "Usage"].map((label) => ({ label }))
const find = (text: string) => rankCommands(labels, text).map(({ label }) => label)

test("rankCommands puts the best match first and drops what does not match", () => {
  expect(find("ru")[0]).toBe("Runs")
  expect(find("val")).toEqual(["Your vals", "New val"])
  expect(find("nv")).toEqual(["New val"])
  expect(find("zzz")).toEqual([])
  expect(find("")).toHaveLength(5)
})

test("rankCommands finds a file by its name, and by letters of its path", () => {
  const files = ["lib/email/format.ts", "main.tsx", "lib/mail.ts"].map((label) => ({ label }))
  const findFile = (text: string) => rankCommands(files, text).map(({ label }) => label)
  expect(findFile("ma")).toEqual(["main.tsx", "lib/mail.ts", "lib/email/format.ts"])
  expect(findFile("lfmt")).toEqual(["lib/email/format.ts"])
})
