export { buildDocsPage, type DocsAsset, type DocsPage } from "./build-docs-page.ts"
