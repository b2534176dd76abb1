import { createTypeService } from "../../../editor/type-service/type-service.ts"
import { readPageKey } from "../../session/page-key.ts"
import { settings } from "../../settings.ts"

/** What knows the types, one for all editors. It costs nothing until code is shown. */
export const typeService = createTypeService({
  workerUrl: settings.typeWorker,
  libsUrl: settings.typeLibs,
  baseUrl: location.origin,
  readPageKey,
})
