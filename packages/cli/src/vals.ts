import { privacies, valTypes } from "@hamlet/contract/lists"
import { toFullName, type Val } from "./names/find-val.ts"
import type { Column } from "./output/list.ts"
import type { Output } from "./output/output.ts"

/** Who may see a val. */
export type Privacy = Val["privacy"]

/** What starts a val. */
export type ValType = Val["type"]

/** The options for the settings of a val besides its code. */
export const settingOptions = {
  "--privacy <privacy>": { help: "who can see the val", choices: privacies },
  "--type <type>": { help: "how the val is started", choices: valTypes },
} as const

/** The columns of a list of vals. */
export const valColumns: readonly Column<Val>[] = [
  { title: "val", value: toFullName, paint: (colour) => colour.bold },
  { title: "version", value: (val) => val.version },
  { title: "type", value: (val) => val.type },
  {
    title: "privacy",
    value: (val) => val.privacy,
    paint: (colour, val) => (val.privacy === "public" ? colour.green : colour.yellow),
  },
  { title: "likes", value: (val) => val.likeCount },
  { title: "updated", value: (val) => val.updatedAt, isTime: true, paint: (colour) => colour.dim },
]

/** The input of a list whose output shows no code: only JSON has it. */
export function withoutTexts({ mode }: Pick<Output, "mode">): {
  readonly omit?: readonly ["code", "readme"]
} {
  return mode === "json" ? {} : { omit: ["code", "readme"] }
}

/** The output for a created or saved val: name and version for scripts, URLs for people. */
export function toSaved(
  val: Val,
  verb: string,
): { readonly json: Val; readonly plain: string; readonly human: string } {
  const name = `${toFullName(val)}@${val.version}`
  return {
    json: val,
    plain: name,
    human: [`${verb} ${name}`, `  ${val.links.endpoint ?? val.url}`].join("\n"),
  }
}
