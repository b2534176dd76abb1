import type { Input } from "@hamlet/contract/client"
import { type Command, Option } from "commander"
import { privacies, valTypes } from "./contract-copies.ts"
import { toFullName, type Val } from "./names/find-val.ts"
import type { ListView } from "./output/list.ts"
import type { Output } from "./output/output.ts"
import { toAgo } from "./terminal/ago.ts"

/** Who may see a val. */
export type Privacy = Val["privacy"]

/** What starts a val. */
export type ValType = Val["type"]

/** The settings of a val besides its code. */
export interface ValSettings {
  readonly privacy?: Privacy
  readonly type?: ValType
}

/** Adds the options for these settings. */
export function addSettingOptions(command: Command): Command {
  return command
    .addOption(new Option("--privacy <privacy>", "who can see the val").choices(privacies))
    .addOption(new Option("--type <type>", "how the val is started").choices(valTypes))
}

/** The given settings, as the API takes them. */
export function toSettings({
  privacy,
  type,
}: ValSettings): Pick<Input<"updateVal">, "privacy" | "type"> {
  return { ...(privacy && { privacy }), ...(type && { type }) }
}

/** How a list of vals is printed. */
export function toValListView(empty: string): ListView<Val> {
  const now = Date.now()
  return {
    empty,
    columns: [
      { title: "val", value: toFullName, paint: (colour) => colour.bold },
      { title: "version", value: (val) => val.version },
      { title: "type", value: (val) => val.type },
      {
        title: "privacy",
        value: (val) => val.privacy,
        paint: (colour, val) => (val.privacy === "public" ? colour.green : colour.yellow),
      },
      { title: "likes", value: (val) => val.likeCount },
      {
        title: "updated",
        value: (val) => val.updatedAt,
        human: (val) => toAgo(val.updatedAt, now),
        paint: (colour) => colour.dim,
      },
    ],
  }
}

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
