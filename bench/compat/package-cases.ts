import { withNative } from "./combinations/with-native.ts"
import { withoutNative } from "./combinations/without-native.ts"
import type { PackageCase } from "./package-case.ts"
import { cryptography } from "./packages/cryptography.ts"
import { databases } from "./packages/databases.ts"
import { dates } from "./packages/dates.ts"
import { documents } from "./packages/documents.ts"
import { files } from "./packages/files.ts"
import { httpClients } from "./packages/http-clients.ts"
import { httpServers } from "./packages/http-servers.ts"
import { images } from "./packages/images.ts"
import { language } from "./packages/language.ts"
import { messages } from "./packages/messages.ts"
import { pages } from "./packages/pages.ts"
import { programs } from "./packages/programs.ts"
import { validation } from "./packages/validation.ts"
import { values } from "./packages/values.ts"
import { webServices } from "./packages/web-services.ts"

/** A topic of the table, with its cases. */
export interface PackageTopic {
  readonly title: string
  readonly cases: readonly PackageCase[]
}

/** All cases, in the order of the table. */
export const packageTopics: readonly PackageTopic[] = [
  { title: "validation", cases: validation },
  { title: "values, state, flow control", cases: values },
  { title: "dates and schedules", cases: dates },
  { title: "HTTP and WebSocket clients", cases: httpClients },
  { title: "web servers", cases: httpServers },
  { title: "databases", cases: databases },
  { title: "mail and messages", cases: messages },
  { title: "pages", cases: pages },
  { title: "HTML, Markdown, code", cases: documents },
  { title: "cryptography", cases: cryptography },
  { title: "web services", cases: webServices },
  { title: "language models and text", cases: language },
  { title: "files", cases: files },
  { title: "pictures", cases: images },
  { title: "programs", cases: programs },
]

/** Vals with several packages. */
export const combinations: PackageTopic = {
  title: "packages together",
  cases: [...withNative, ...withoutNative],
}
