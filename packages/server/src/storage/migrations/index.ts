import type { Migration } from "../database/migrate.ts"
import { initial } from "./0001-initial.ts"
import { runs } from "./0002-runs.ts"
import { reach } from "./0003-reach.ts"
import { sessions } from "./0004-sessions.ts"
import { references } from "./0005-references.ts"
import { settingToken } from "./0006-setting-token.ts"
import { runsWithError } from "./0007-runs-with-error.ts"
import { administration } from "./0008-administration.ts"
import { runBytes } from "./0009-run-bytes.ts"
import { bundleFiles } from "./0010-bundle-files.ts"
import { schedules } from "./0011-schedules.ts"
import { queue } from "./0012-queue.ts"
import { forks } from "./0013-forks.ts"
import { emails } from "./0014-emails.ts"
import { webhooks } from "./0015-webhooks.ts"
import { incomingMail } from "./0016-incoming-mail.ts"
import { begunRuns } from "./0017-begun-runs.ts"
import { identities } from "./0018-identities.ts"
import { invitedPeople } from "./0019-invited-people.ts"
import { bundleTypes } from "./0020-bundle-types.ts"
import { claims } from "./0021-claims.ts"
import { oauth } from "./0022-oauth.ts"
import { valSecrets } from "./0023-val-secrets.ts"
import { runResponses } from "./0024-run-responses.ts"
import { explore } from "./0025-explore.ts"
import { notifications } from "./0026-notifications.ts"

/** Every migration, in the order of their numbers. One that has landed is never changed again. */
export const migrations: readonly Migration[] = [
  initial,
  runs,
  reach,
  sessions,
  references,
  settingToken,
  runsWithError,
  administration,
  runBytes,
  bundleFiles,
  schedules,
  queue,
  forks,
  emails,
  webhooks,
  incomingMail,
  begunRuns,
  identities,
  invitedPeople,
  bundleTypes,
  claims,
  oauth,
  valSecrets,
  runResponses,
  explore,
  notifications,
]
