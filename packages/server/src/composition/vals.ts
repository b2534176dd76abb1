import { toReceivingDomain } from "../config/mail.ts"
import { createLinks } from "../http/response/links.ts"
import { CodeTools } from "../runtime/parser/code-tools.ts"
import { createReferenceStore } from "../storage/references/references.ts"
import { createCommentStore } from "../storage/vals/comments.ts"
import { createForkStore } from "../storage/vals/forks.ts"
import { createValImportStore } from "../storage/vals/import-vals.ts"
import { createLikeStore } from "../storage/vals/likes.ts"
import { createOwnValStore } from "../storage/vals/own-vals.ts"
import { createValSecretStore } from "../storage/vals/val-secrets.ts"
import { createValStore } from "../storage/vals/vals.ts"
import { createVersionStore } from "../storage/vals/versions.ts"
import type { Foundation } from "./foundation.ts"

/** Vals with their versions, likes, comments and references, and the parser of their code. */
export function createVals({ config, db, log, onError }: Foundation) {
  const codeTools = new CodeTools({
    isolation: config.isolation,
    onFailure: (report) => log.warn("parser_gave_up", report),
    onWeak: (message) => onError(new Error(message)),
  })
  return {
    codeTools,
    vals: createValStore(db),
    valSecrets: createValSecretStore(db),
    versions: createVersionStore(db),
    forks: createForkStore(db),
    ownVals: createOwnValStore(db),
    valImports: createValImportStore(db),
    likes: createLikeStore(db),
    comments: createCommentStore(db),
    references: createReferenceStore(db),
    links: createLinks(config.baseUrl, config.valsDomain, toReceivingDomain(config)),
    scanImports: (code: string, ownerId: string) => codeTools.scanImports(code, ownerId),
    scanManyImports: (codes: readonly string[], ownerId: string) =>
      codeTools.scanManyImports(codes, ownerId),
  }
}
