import { automationSources } from "./automation-sources.ts"
import { dataSources } from "./data-sources.ts"
import { honoApp } from "./several/hono-app.ts"
import { pageWithApi } from "./several/page-with-api.ts"
import { scheduledReport } from "./several/scheduled-report.ts"
import { signUpForm } from "./several/sign-up-form.ts"
import type { TemplateSource } from "./template.ts"
import { webSources } from "./web-sources.ts"

/** The code of every template, by key. */
export const sources: Readonly<Record<string, TemplateSource>> = {
  ...webSources,
  ...dataSources,
  ...automationSources,
  app: pageWithApi,
  hono: honoApp,
  reports: scheduledReport,
  signup: signUpForm,
}
