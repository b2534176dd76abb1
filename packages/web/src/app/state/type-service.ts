import { createTypeService } from "../../editor/type-service/type-service.ts"
import { settings } from "../settings.ts"
import { readPageKey } from "./page-key.ts"

/** What knows the types, one for all editors. It costs nothing until code is shown. */
export const typeService = createTypeService({
  workerUrl: settings.typeWorker,
  libsUrl: settings.typeLibs,
  baseUrl: location.origin,
  readPageKey,
})
