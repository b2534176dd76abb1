import type { IconName } from "../../ui/icon.tsx"

/** A working val to start from. */
export interface Template {
  readonly key: string
  readonly title: string
  readonly summary: string
  readonly icon: IconName
  readonly group: "Web" | "Data" | "Automation"
  readonly type: "http" | "script" | "interval" | "email"
}

/** What a template becomes a val with. It is loaded when it is used. */
export interface TemplateSource {
  /** The name of the val; a name that is taken gets a number. */
  readonly name: string
  /** The web address of a private val would be closed to other users. */
  readonly privacy: "private" | "unlisted"
  readonly code: string
  readonly readme?: string
  /** The schedule of an interval val. */
  readonly every?: string
  readonly cron?: string
  /** Packages are fetched when the val is saved, so its first run waits for a registry. */
  readonly usesPackages?: true
}
