import { automationSources } from "./automation-sources.ts"
import { dataSources } from "./data-sources.ts"
import type { TemplateSource } from "./template.ts"
import { webSources } from "./web-sources.ts"

/** The code of every template, by key. */
export const sources: Readonly<Record<string, TemplateSource>> = {
  ...webSources,
  ...dataSources,
  ...automationSources,
}
