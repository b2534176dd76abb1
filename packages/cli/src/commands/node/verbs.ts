import type { Verbs } from "../../command.ts"
import { defineList, listOptions } from "../../shapes.ts"

export const verbs: Verbs = {
  list: defineList({
    summary: "List the nodes of the installation",
    description: `Lists the server processes that share the database, newest first, as each described itself when it was
last seen. A node that has ended is not in the list.`,
    examples: [
      ["hamlet node list", "all nodes"],
      ["hamlet node list --json", "all that they tell"],
    ],
    takes: listOptions,
    items: ({ client }, _, page) => client.items("listNodes", page),
    empty: "No nodes",
    columns: [
      { title: "host", value: ({ host }) => host, paint: (colour) => colour.bold },
      { title: "address", value: ({ report }) => report?.address },
      { title: "state", value: ({ state }) => state },
      { title: "version", value: ({ report }) => report?.version ?? "older" },
      { title: "schema", value: ({ report }) => report?.schemaVersion },
      { title: "isolation", value: ({ report }) => report?.isolation },
      { title: "runs", value: ({ report }) => report?.runs },
      { title: "waiting", value: ({ report }) => report?.waitingRuns },
      { title: "processes", value: ({ report }) => report?.processes },
      {
        title: "load",
        value: ({ report }) => report && `${report.cpuLoad.toFixed(1)}/${report.cpus}`,
      },
      { title: "clock", value: ({ report }) => report && toOffset(report.clockSkewMs) },
      { title: "started", value: ({ report }) => report?.startedAt, isTime: true },
      { title: "seen", value: ({ seenAt }) => seenAt, isTime: true },
      { title: "id", value: ({ id }) => id, isWhole: true },
    ],
  }),
}

/** By how much a clock is ahead of the database's. */
function toOffset(ms: number): string {
  return `${ms > 0 ? "+" : ""}${(ms / 1000).toFixed(1)} s`
}
