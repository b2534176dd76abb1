import { dependencySettings, egressSettings } from "./egress.ts"
import { libsqlSettings } from "./libsql.ts"
import { emailSettings, mailSettings, smtpSettings } from "./mail.ts"
import { oidcSettings } from "./oidc.ts"
import { openAiSettings } from "./openai.ts"
import { allowanceSettings, runSettings, scheduleSettings } from "./runs.ts"
import { accessSettings, logSettings, placeSettings } from "./server.ts"
import type { Setting } from "./setting.ts"
import { storageSettings } from "./storage.ts"
import { traceSettings } from "./traces.ts"

/** All settings, in the order of docs/configuration.md, which is generated from them. */
export const options: readonly Setting<unknown>[] = [
  placeSettings,
  accessSettings,
  runSettings,
  scheduleSettings,
  egressSettings,
  dependencySettings,
  storageSettings,
  libsqlSettings,
  allowanceSettings,
  openAiSettings,
  emailSettings,
  smtpSettings,
  mailSettings,
  oidcSettings,
  logSettings,
  traceSettings,
].flatMap((table) => Object.values<Setting<unknown>>(table))

/** The flag of a setting, without its dashes. */
export function toFlag(env: string): string {
  return env.replace("HAMLET_", "").toLowerCase().replaceAll("_", "-")
}
