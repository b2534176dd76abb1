import { createTypeService } from "../../../editor/type-service/type-service.ts"
import { readPageKey } from "../../../ui/page-key.ts"
import { settings } from "../../settings.ts"

/** The type service of all editors. It is loaded when code is shown. */
export const typeService = createTypeService({
  workerUrl: settings.typeWorker,
  libsUrl: settings.typeLibs,
  nodeTypesUrl: settings.nodeTypes,
  domTypesUrl: settings.domTypes,
  baseUrl: location.origin,
  readPageKey,
})
