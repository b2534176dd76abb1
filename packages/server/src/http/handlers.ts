import type { Handlers } from "./call.ts"
import type { Nouns } from "./nouns.ts"
import type { Metrics } from "./ops/metrics.ts"
import { accountHandlers } from "./routes/account.ts"
import { administrationHandlers } from "./routes/administration.ts"
import { backupHandlers } from "./routes/backup.ts"
import { branchHandlers } from "./routes/files/branches.ts"
import { fileHandlers } from "./routes/files/files.ts"
import { folderHandlers } from "./routes/files/folders.ts"
import { emailHandlers } from "./routes/mail.ts"
import { authorizationHandlers } from "./routes/me/authorizations.ts"
import { identityHandlers } from "./routes/me/identities.ts"
import { meHandlers } from "./routes/me/me.ts"
import { notificationHandlers } from "./routes/me/notifications.ts"
import { webhookHandlers } from "./routes/me/webhooks.ts"
import { moduleHandlers } from "./routes/modules.ts"
import { organisationHandlers } from "./routes/people/organisations.ts"
import { userHandlers } from "./routes/people/users.ts"
import { requestHandlers } from "./routes/requests.ts"
import { telemetryHandlers } from "./routes/runs/telemetry.ts"
import { runHandlers } from "./routes/runs.ts"
import { scheduleHandlers } from "./routes/schedules.ts"
import { serviceHandlers } from "./routes/services.ts"
import { sessionHandlers } from "./routes/sessions.ts"
import { socialHandlers } from "./routes/social.ts"
import { systemHandlers } from "./routes/system.ts"
import { valHandlers } from "./routes/vals.ts"
import { versionHandlers } from "./routes/versions.ts"

/** A handler for every row of the route table. */
export function createHandlers(nouns: Nouns, metrics: Metrics): Handlers {
  return {
    ...meHandlers(nouns),
    ...valHandlers(nouns),
    ...versionHandlers(nouns),
    ...folderHandlers(nouns),
    ...branchHandlers(nouns),
    ...fileHandlers(nouns),
    ...socialHandlers(nouns),
    ...runHandlers(nouns),
    ...telemetryHandlers(nouns),
    ...requestHandlers(nouns),
    ...scheduleHandlers(nouns),
    ...userHandlers(nouns),
    ...organisationHandlers(nouns),
    ...administrationHandlers(nouns),
    ...accountHandlers(nouns),
    ...sessionHandlers(nouns),
    ...identityHandlers(nouns),
    ...notificationHandlers(nouns),
    ...authorizationHandlers(nouns),
    ...webhookHandlers(nouns),
    ...serviceHandlers(nouns),
    ...emailHandlers(nouns),
    ...backupHandlers(nouns),
    ...moduleHandlers(nouns),
    ...systemHandlers(nouns, metrics),
  }
}
