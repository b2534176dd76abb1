import { expect, test } from "bun:test"
import { readConfig } from "@hamlet/contract/deno-json"
import { toConfigKey } from "./config-keys.ts"

test("toConfigKey depends on what counts only", () => {
  const key = (text: string) => {
    const { config } = readConfig("deno.json", text)
    return config && toConfigKey(config)
  }
  const one = key(`{"imports": {"a": "npm:a"}}`)
  expect(key(`{"imports": {"a": "npm:a"} /* same */, "lock": true}`)).toBe(one)
  expect(key(`{"imports": {"a": "npm:a@2"}}`)).not.toBe(one)
})
