import { auditActions } from "@hamlet/contract/lists"
import { toMoment } from "../runs/since.ts"
import { defineList, listOptions } from "../shapes.ts"

export const command = defineList({
  description: "Newest entries first.",
  examples: [
    ["hamlet audit", "the latest entries"],
    ["hamlet audit --action user.suspend --since 30d --all", "suspensions of the last 30 days"],
  ],
  takes: {
    ...listOptions,
    "--action <action>": { help: "only this action", choices: auditActions },
    "--since <time>": { help: "only after this time: 2h, 3d or a date", parse: toMoment },
    "--until <time>": { help: "only before this time", parse: toMoment },
  },
  items: ({ client }, { action, since, until }, page) =>
    client.items("listAuditEntries", { action, since, until, ...page }),
  empty: "No entries",
  columns: [
    { title: "when", value: ({ at }) => at, isTime: true },
    { title: "who", value: ({ actor }) => actor.username, paint: (colour) => colour.bold },
    { title: "what", value: ({ action }) => action },
    { title: "whom", value: ({ subject }) => subject.name ?? subject.id },
    {
      title: "details",
      value: ({ details }) => (Object.keys(details).length === 0 ? null : JSON.stringify(details)),
    },
  ],
})
