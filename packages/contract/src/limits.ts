/**
 * The limits of the API. They are the same on every server, so that a client can check before it
 * sends.
 */
export const limits = {
  nameCharsMax: 48,
  usernameCharsMax: 30,
  codeCharsMax: 256_000,
  readmeCharsMax: 65_536,
  commentCharsMax: 10_000,
  queryCharsMax: 512,
  emailCharsMax: 254,
  bioCharsMax: 2_000,
  reasonCharsMax: 500,
  noteCharsMax: 200,
  invitationHoursDefault: 72,
  invitationHoursMax: 720,
  invitationsMax: 1_000,
  tokenNameCharsMax: 100,
  tokenCharsMax: 200,
  sealedCharsMax: 4_000,
  providerResponseCharsMax: 8_000,
  identitiesPerUserMax: 10,
  authorizationQueryCharsMax: 8_000,
  timeCharsMax: 40,
  secretNameCharsMax: 256,
  secretValueBytesMax: 32_768,
  secretDescriptionCharsMax: 1_024,
  variableValueCharsMax: 8_192,
  connectionCharsMax: 512,
  secretHostsMax: 32,
  secretHostCharsMax: 255,
  secretsPerUserMax: 200,
  secretsPerValMax: 100,
  webhooksPerUserMax: 20,
  webhookUrlCharsMax: 2_000,
  webhookDescriptionCharsMax: 200,
  idempotencyKeyCharsMax: 255,
  pageItemsDefault: 20,
  pageItemsMax: 100,
  pageOffsetMax: 999_999_999_999_999,
  cursorCharsMax: 10_000,
  cursorKeysMax: 4,
  versionMax: 2_147_483_647,
  retriesMax: 10,
  argsMax: 100,
  argLevelsMax: 100,
  runValueBytesMax: 100_000,
  runLogBytesMax: 100_000,
  runInputBytesMax: 65_536,
  runTextCharsMax: 200,
  blobKeyCharsMax: 512,
  blobTypeCharsMax: 255,
  blobListItemsMax: 10_000,
  valStatesMax: 10_000,
  statBucketsMax: 200,
  activityHoursMax: 720,
  activityBucketsMax: 60,
  telemetryBranchesMax: 20,
  telemetryTracesMax: 100,
  requestMethodCharsMax: 32,
  requestHeadersMax: 100,
  requestHeadCharsMax: 16_384,
  responseBytesMax: 1_048_576,
  responseMsMax: 10_000,
  previewMsMax: 3_600_000,
  emailAddressesMax: 50,
  emailNameCharsMax: 200,
  emailSubjectCharsMax: 998,
  emailTextCharsMax: 1_000_000,
  emailAttachmentsMax: 20,
  emailAttachmentCharsMax: 30_000_000,
  emailRawCharsMax: 30_000_000,
  emailHeadersMax: 50,
  emailHeaderCharsMax: 998,
  cronCharsMax: 200,
  everyCharsMax: 20,
  timeZoneCharsMax: 64,
  scheduleTimesMax: 10,
  emailCodeCharsMax: 40,
  sqlCharsMax: 1_000_000,
  sqlArgsMax: 32_766,
  sqlStatementsMax: 10_000,
  importValsMax: 200,
  importLevelsMax: 100,
  importVersionsMax: 10_000,
  importVersionMax: 1_000_000_000,
  importCommentsMax: 10_000,
  importAuthorCharsMax: 200,
  descriptionCharsMax: 64,
  imageUrlCharsMax: 4_000,
  branchNameCharsMax: 48,
  branchesPerValMax: 100,
  fileNameCharsMax: 255,
  filePathCharsMax: 512,
  filePathLevelsMax: 20,
  filesPerVersionMax: 1_000,
  directoriesPerVersionMax: 1_000,
  versionBytesMax: 10_000_000,
  fileChangesMax: 1_000,
} as const

/** The names of users, whatever their length. */
export const namePattern = /^[a-zA-Z][a-zA-Z0-9_]*$/

/** The val of a user with what their assistants are told, the only one whose name has a dot. */
export const configValName = ".config"

/** The names of vals, whatever their length. */
export const valNamePattern = /^(?:[a-zA-Z][a-zA-Z0-9\-_]*|\.config)$/

/**
 * What two names of vals of one owner must not share. Names are part of host names, which ignore case
 * and in which `_` is often written as `-`.
 */
export function toValNameKey(name: string): string {
  return name.toLowerCase().replaceAll("-", "_")
}
