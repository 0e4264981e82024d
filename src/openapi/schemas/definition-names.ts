// The names of types in documents, the same in both versions of OpenAPI: the path of the Go package that declares the
// type, reversed like a domain name. Clients look up types by them.

/** Packages outside of k8s.io/api. */
const PACKAGES: Readonly<Record<string, string>> = {
  'meta/v1': 'io.k8s.apimachinery.pkg.apis.meta.v1',
  'api/resource': 'io.k8s.apimachinery.pkg.api.resource',
  'util/intstr': 'io.k8s.apimachinery.pkg.util.intstr',
  runtime: 'io.k8s.apimachinery.pkg.runtime',
  version: 'io.k8s.apimachinery.pkg.version',
  'apiextensions/v1': 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1',
  'apiextensions/v1beta1': 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1beta1',
  'apiregistration/v1': 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1',
}

/** `core/v1.Pod` → `io.k8s.api.core.v1.Pod`. */
export function definitionOf(type: string): string {
  const dot = type.lastIndexOf('.')
  const home = type.slice(0, dot)
  return `${PACKAGES[home] ?? `io.k8s.api.${home.replaceAll('/', '.')}`}.${type.slice(dot + 1)}`
}

/** The kind Widget of `example.com/v1` → `com.example.v1.Widget`. */
export const customDefinitionOf = (group: string, version: string, kind: string): string =>
  [...group.split('.').toReversed(), version, kind].join('.')

export const OBJECT_META = definitionOf('meta/v1.ObjectMeta')
export const LIST_META = definitionOf('meta/v1.ListMeta')
export const STATUS = definitionOf('meta/v1.Status')
export const DELETE_OPTIONS = definitionOf('meta/v1.DeleteOptions')
export const PATCH = definitionOf('meta/v1.Patch')
export const SCALE = definitionOf('autoscaling/v1.Scale')
export const WATCH_EVENT = definitionOf('meta/v1.WatchEvent')
