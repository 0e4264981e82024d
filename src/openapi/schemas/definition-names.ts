// The names under which documents define types, the same in both versions of OpenAPI: a path to the Go package that
// declares the type, turned round like a domain name. Clients look types up by them.

/** Packages that do not stand with the others. */
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

/** `io.k8s.api.core.v1.Pod` of `core/v1.Pod`. */
export function definitionOf(type: string): string {
  const dot = type.lastIndexOf('.')
  const home = type.slice(0, dot)
  return `${PACKAGES[home] ?? `io.k8s.api.${home.replaceAll('/', '.')}`}.${type.slice(dot + 1)}`
}

/** `com.example.v1.Widget` of the Widget in `example.com/v1`. */
export const customDefinitionOf = (group: string, version: string, kind: string): string =>
  [...group.split('.').toReversed(), version, kind].join('.')

export const OBJECT_META = definitionOf('meta/v1.ObjectMeta')
export const LIST_META = definitionOf('meta/v1.ListMeta')
export const STATUS = definitionOf('meta/v1.Status')
export const DELETE_OPTIONS = definitionOf('meta/v1.DeleteOptions')
export const PATCH = definitionOf('meta/v1.Patch')
export const SCALE = definitionOf('autoscaling/v1.Scale')
export const WATCH_EVENT = definitionOf('meta/v1.WatchEvent')
