// The checks of the resources that a rule of an EncryptionConfiguration names, with kube-apiserver's messages.
import { type FieldError, fieldInvalid, fieldRequired, indexPath } from '../../meta/errors/field-errors.js'

/** What is stored without being a resource of the API. */
const NO_RESOURCES = new Set(['apiserveripinfo', 'serviceipallocations', 'servicenodeportallocations'])

export function checkResources(resources: readonly string[], path: string): FieldError[] {
  if (resources.length === 0) return [fieldRequired(path, `at least one ${path} is required`)]
  const wrong = resources.flatMap((resource, i) => {
    const why = nameError(resource)
    return why === undefined ? [] : [fieldInvalid(indexPath(path, i), resource, why)]
  })
  return [...overlaps(resources, path), ...wrong]
}

function nameError(resource: string): string | undefined {
  const { group, name } = parse(resource)
  if (resource !== resource.toLowerCase()) return 'resource name should not contain capital letters'
  if (resource === '*')
    return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"
  if (NO_RESOURCES.has(resource)) return 'resources which do not have REST API/s cannot be encrypted'
  if (group === 'events.k8s.io') {
    return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file"
  }
  if (group === 'extensions') return "'extensions' group has been removed and cannot be used for encryption"
  if (group === '*' && name !== '*') return 'encrypting the same resource across groups is not supported'
  return undefined
}

function overlaps(resources: readonly string[], path: string): FieldError[] {
  const all = resources.map(parse)
  const errors: FieldError[] = []
  if (new Set(resources).size < resources.length) {
    errors.push(fieldInvalid(path, [...resources], 'the same resource cannot be specified multiple times'))
  }
  const distinct = all.filter((each, i) => all.findIndex(other => isSame(each, other)) === i)
  const covers = (a: Parsed, b: Parsed): boolean =>
    a.name === '*' && (a.group === b.group || a.group === '*') && !isSame(a, b)
  if (distinct.some(a => distinct.some(b => covers(a, b)))) {
    const why =
      "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked"
    errors.push(fieldInvalid(path, [...resources], why))
  }
  return errors
}

interface Parsed {
  readonly name: string
  readonly group: string
}

const isSame = (a: Parsed, b: Parsed): boolean => a.name === b.name && a.group === b.group

function parse(resource: string): Parsed {
  const dot = resource.indexOf('.')
  return dot === -1 ? { name: resource, group: '' } : { name: resource.slice(0, dot), group: resource.slice(dot + 1) }
}
