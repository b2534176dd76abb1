import { expect, test } from "bun:test"
import { type ListedNode, type NodeReport, toNodeState } from "./nodes.ts"

const report: NodeReport = {
  version: "0.3.0",
  schemaVersion: 41,
  isolation: "bubblewrap",
  uptimeMs: 1,
  clockSkewMs: 0,
  isClockWrong: false,
  isStopping: false,
  runs: 0,
  waitingRuns: 0,
  processes: 0,
  cpuLoad: 0,
  cpus: 1,
  memoryBytes: 1,
  valMemoryBytes: 0,
  valMemoryBytesMax: 0,
}
const active: ListedNode = {
  id: "",
  host: "h",
  pid: 1,
  pidStarted: "",
  leaseLeftMs: 0,
  isGone: false,
  seenAt: 1,
  report,
}
const stopping = { ...report, isStopping: true }

test.each([
  ["active", active],
  ["active", { ...active, report: null }],
  ["stopping", { ...active, report: stopping }],
  ["silent", { ...active, leaseLeftMs: -1, report: stopping }],
  ["silent", { ...active, leaseLeftMs: -1, report: null }],
  ["gone", { ...active, leaseLeftMs: -1, isGone: true }],
] as const)("toNodeState is %s", (state, node) => {
  expect(toNodeState(node)).toBe(state)
})
