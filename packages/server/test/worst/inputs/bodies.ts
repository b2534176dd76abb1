import { limits } from "@hamlet/contract"
import { bodyBytesMax, smallValues } from "../../freeze/worst-values.ts"
import { toControl, worldLimits } from "../world/world-limits.ts"

let count = 0
/** Names and texts that differ each time, so that each request changes something. */
export const next = () => ++count

/** Arguments with as many values as fit. */
export const wideArgs = `{"args":[${smallValues(bodyBytesMax - 100)}]}`
/** Arguments as deep as they may be, as often as that fits. */
export const deepArgs = (() => {
  const levels = limits.argLevelsMax - 4
  const deep = `${"[".repeat(levels)}${"]".repeat(levels)}`
  return `{"args":[[${`${deep},`.repeat(Math.floor((bodyBytesMax - 100) / (deep.length + 1)))}1]]}`
})()

/** Six bytes of JSON for each character. */
export const code = `//${toControl(limits.codeCharsMax - 20)}\n`

/** Imports of one file, of vals and of other files. */
const importsOf = (file: number) => {
  const vals = Math.floor(limits.importsPerVersionMax / worldLimits.files)
  const names = Array.from(
    { length: vals },
    (_, it) => (file * vals + it) % limits.importedValsPerSaveMax,
  )
  return [
    ...names.map((name) => `import"https://esm.town/v/ada/worst${name}"`),
    ...Array.from({ length: 100 }, (_, it) => `import"./${it}"`),
  ].join("\n")
}

/** As many files as a version may have, with as many imports as it may have, of vals and others. */
export const importingFiles = (changes: number) =>
  Array.from({ length: worldLimits.files }, (_, index) => ({
    path: `f${index}.ts`,
    content: `//${changes}\n${importsOf(index)}`,
  }))

/** As many vals as an import has, with many versions each. */
export const importedVals = (changes: number) =>
  Array.from({ length: limits.importValsMax }, (_, val) => ({
    name: `many${val}`,
    versions: Array.from({ length: 40 }, (_, version) => ({
      code: `import"https://esm.town/v/ada/worst${version}";import"https://esm.town/v/ada/worst1${version}";//${changes}${"\u0001".repeat(20)}`,
    })),
  }))

/** Statements, as many as fit into a body. */
export const statements = Array.from({ length: 9_000 }, (_, index) => ({
  sql: `select ?, '${"\u0001".repeat(20)}'`,
  args: [index],
}))
/** Much more text than the statement has. */
export const manyRows = `with recursive n(i) as (select 1 union all select i + 1 from n where i < 400) select i, '${"\u0001".repeat(2_000)}' as a from n`

/** A mail with everything. */
export const testMail = {
  raw: undefined,
  from: "eve@sender.example.com",
  cc: Array.from({ length: limits.emailAddressesMax }, (_, index) => `a${index}@b.example`),
  subject: "s".repeat(limits.emailSubjectCharsMax),
  text: toControl(100_000),
  html: "<a>".repeat(100_000),
  attachments: Array.from({ length: limits.emailAttachmentsMax }, (_, index) => ({
    content: "AAAA".repeat(10_000),
    filename: `${index}.bin`,
  })),
}
/** Hosts of a secret. */
export const hostsMax = Array.from(
  { length: limits.secretHostsMax },
  (_, index) => `h${index}.example`,
)
/** Headers of a request. */
export const headersMax = Array.from({ length: 90 }, (_, index) => [`x-${index}`, "a".repeat(100)])

/** Files with as much text as a version may have. */
export const largeFiles = (changes: number) => {
  const perFile = Math.floor((limits.versionBytesMax / worldLimits.files) * 0.95)
  return Array.from({ length: worldLimits.files }, (_, index) => ({
    path: `f${index}.ts`,
    content: `${changes}${"x".repeat(perFile - 20)}`,
  }))
}

/** A mail to the outside, which may be larger than other bodies. */
export const largeMail = {
  to: testMail.cc,
  subject: testMail.subject,
  text: toControl(limits.emailTextCharsMax),
  attachments: testMail.attachments.map((attachment) => ({
    ...attachment,
    content: "AAAA".repeat(190_000),
  })),
}
