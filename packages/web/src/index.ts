export { buildPageScript } from "./build/build-page-script.ts"
export { assetsPath, openApp, type PageOptions, type WebApp } from "./open-app.ts"
