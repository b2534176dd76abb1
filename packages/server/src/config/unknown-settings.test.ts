import { expect, test } from "bun:test"
import { findUnknownSettings, toWarning } from "./unknown-settings.ts"

const warn = (...names: readonly string[]) =>
  findUnknownSettings(Object.fromEntries(names.map((name) => [name, "1"]))).map(toWarning)

test("findUnknownSettings names the setting that was probably meant", () => {
  const known = ["HAMLET_PORT", "PATH", "OTEL_TRACES_SAMPLER", "HAMLETS"]
  expect(warn(...known, "HAMLET_PROT", "HAMLET_DATABSE_URL", "HAMLET_PROCESS_READY")).toEqual([
    "HAMLET_PROT is no setting, and has no effect; did you mean HAMLET_PORT?",
    "HAMLET_DATABSE_URL is no setting, and has no effect; did you mean HAMLET_DATABASE_URL?",
    "HAMLET_PROCESS_READY is no setting, and has no effect; did you mean HAMLET_PROCESSES_READY?",
  ])
})

test("findUnknownSettings guesses nothing that is too far", () => {
  expect(warn("HAMLET_", "HAMLET_CORS_ORIGINS_ALLOWED")).toEqual([
    "HAMLET_ is no setting, and has no effect",
    "HAMLET_CORS_ORIGINS_ALLOWED is no setting, and has no effect",
  ])
})

test("findUnknownSettings ignores variables of other programs", () => {
  // Kubernetes sets those of the last line for a service that is called "hamlet".
  const others = ["HAMLET_URL", "HAMLET_TEST_SEED", "HAMLET_NODES", "HAMLET_CONFIG_DIR"]
  expect(warn(...others, "HAMLET_SERVICE_HOST", "HAMLET_PORT_80_TCP_ADDR")).toEqual([])
})

test("findUnknownSettings reads a few names of an endless environment", () => {
  const names = Array.from({ length: 1_000 }, (_, index) => `HAMLET_X${index}${"y".repeat(10_000)}`)
  const warnings = warn(...names)
  expect(warnings.length).toBeLessThan(50)
  expect(Math.max(...warnings.map((text) => text.length))).toBeLessThan(300)
})
