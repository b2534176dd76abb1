import { type ReadSetting, readInteger, refuse } from "./readers.ts"

/** Where the packages of vals come from. */
export interface DependencyConfig {
  /** Undefined: the registry of the machine's npm configuration. */
  readonly npmRegistry: string | undefined
  readonly jsrUrl: string
  /** Whether vals of esm.town that are not on this server are fetched from there. */
  readonly fetchesTown: boolean
  readonly resolveMsMax: number
}

/** Reads the settings of package resolution. */
export function loadDependencyConfig(read: ReadSetting): DependencyConfig {
  return {
    npmRegistry: readAddress("HAMLET_NPM_REGISTRY", read("HAMLET_NPM_REGISTRY")),
    jsrUrl: readAddress("HAMLET_JSR_URL", read("HAMLET_JSR_URL")) ?? "https://jsr.io/",
    fetchesTown: readTown(read("HAMLET_ESM_TOWN")),
    resolveMsMax:
      (readInteger("HAMLET_RESOLVE_SECONDS_MAX", read("HAMLET_RESOLVE_SECONDS_MAX"), 1, 86_400) ??
        120) * 1000,
  }
}

function readTown(text: string): boolean {
  if (text !== "" && text !== "fetch" && text !== "local")
    refuse("HAMLET_ESM_TOWN", text, "it must be fetch or local")
  return text !== "local"
}

function readAddress(
  env: "HAMLET_NPM_REGISTRY" | "HAMLET_JSR_URL",
  text: string,
): string | undefined {
  if (text === "") return undefined
  if (!/^https?:\/\/[^\s?#@]+$/.test(text) || !URL.canParse(text))
    refuse(env, text, "it must be an http or https address without a query or a password")
  return text.endsWith("/") ? text : `${text}/`
}
