export { FakeRegistry } from "./fake-registry.ts"
export { openForwardingProxy } from "./forwarding-proxy.ts"
export {
  importOf,
  type OpenResolver,
  openResolver,
  openResolverWith,
  type ResolverTestOptions,
  readPlaces,
  runBundle,
} from "./open-resolver.ts"
export { type TarEntry, toTarball } from "./tarball.ts"
