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
