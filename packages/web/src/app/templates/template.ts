import { findNamedType, guessFileType } from "@hamlet/contract/file-types"
import type { IconName } from "../../ui/icon.tsx"
import type { ContentType, ValFile } from "../archive/select-files.ts"

/** A working val to start from. */
export interface Template {
  readonly key: string
  readonly title: string
  readonly summary: string
  readonly icon: IconName
  readonly group: "Web" | "Data" | "Automation"
  /** How many files it has, if there are several. */
  readonly files?: number
}

/** What a template becomes a val with. It is loaded when it is used. */
export interface TemplateSource {
  /** The name of the val; a name that is taken gets a number. */
  readonly name: string
  /** The web address of a private val would be closed to other users. */
  readonly privacy: "private" | "unlisted"
  /** The first one is the entry file. */
  readonly files: readonly ValFile[]
  /** When files of type `interval` run, in the time zone of the user. */
  readonly schedules?: readonly { readonly file: string; readonly cron: string }[]
  /** Packages are fetched when the val is saved, so its first run waits for a registry. */
  readonly usesPackages?: true
}

/** A file of a template. Without a type it has the one that its name says. */
export function toTemplateFile(
  path: string,
  content: string,
  type: ContentType = findNamedType(path) ?? guessFileType(path),
): ValFile {
  return { path, type, content }
}

/** The only file of a template. */
export function toOnlyFile(type: ContentType, content: string): readonly ValFile[] {
  return [{ path: "main.tsx", type, content }]
}
