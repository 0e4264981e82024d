// The volumes of a pod: each of one type, which has what it needs.
import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldRequired,
  indexPath,
} from '../../../meta/errors/field-errors.js'
import { checkDnsLabel } from '../../../meta/object/names.js'
import { has, objectAt, objectOrNone, objectsAt, stringAt } from '../../../meta/values/access.js'
import type { ValueObject } from '../../../meta/values/value.js'
import { checkOneOf, checkText } from '../../common/field-checks.js'
import { checkFieldRef, checkRelativePath, VOLUME_FIELDS } from './containers.js'

export interface CheckedVolumes {
  readonly errors: FieldError[]
  /** Those that can be mounted: a faulty one cannot. */
  readonly names: ReadonlySet<string>
}

export function checkVolumes(spec: ValueObject, path: string): CheckedVolumes {
  const names = new Set<string>()
  const all = new Set<string>()
  const errors = objectsAt(spec, 'volumes').flatMap((volume, i) => {
    const at = indexPath(path, i)
    const name = stringAt(volume, 'name')
    const own = checkSource(volume, at)
    if (name === '') own.push(fieldRequired(childPath(at, 'name')))
    else own.push(...checkText(name, checkDnsLabel, childPath(at, 'name')))
    if (name !== '' && all.has(name)) own.push(fieldDuplicate(childPath(at, 'name'), name))
    all.add(name)
    if (own.length === 0) names.add(name)
    return own
  })
  return { errors, names }
}

/** In the order in which the first one counts. */
const SOURCES = [
  'emptyDir',
  'hostPath',
  'gitRepo',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'secret',
  'nfs',
  'iscsi',
  'glusterfs',
  'persistentVolumeClaim',
  'rbd',
  'cinder',
  'cephfs',
  'flocker',
  'downwardAPI',
  'fc',
  'azureFile',
  'configMap',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'photonPersistentDisk',
  'portworxVolume',
  'scaleIO',
  'projected',
  'storageos',
  'csi',
  'ephemeral',
  'image',
]

/** What a source cannot be without. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  hostPath: ['path'],
  gitRepo: ['repository'],
  secret: ['secretName'],
  configMap: ['name'],
  nfs: ['server', 'path'],
  persistentVolumeClaim: ['claimName'],
  csi: ['driver'],
  image: ['reference'],
}

function checkSource(volume: ValueObject, path: string): FieldError[] {
  const given = SOURCES.filter(source => has(volume, source))
  if (given.length === 0) return [fieldRequired(path, 'must specify a volume type')]
  return given.flatMap((source, i) => {
    const at = childPath(path, source)
    if (i > 0) return [fieldForbidden(at, 'may not specify more than 1 volume type')]
    const content = objectAt(volume, source)
    const missing = (REQUIRED[source] ?? []).filter(field => stringAt(content, field) === '')
    return missing.map(field => fieldRequired(childPath(at, field))).concat(checkContent(source, content, at))
  })
}

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
]

function checkContent(source: string, content: ValueObject, path: string): FieldError[] {
  switch (source) {
    case 'hostPath':
      return checkOneOf(stringAt(content, 'type'), HOST_PATH_TYPES, childPath(path, 'type'))
    case 'secret':
    case 'configMap':
      return checkItems(content, path)
    case 'downwardAPI':
      return checkDownward(content, path)
    case 'projected':
      return objectsAt(content, 'sources').flatMap((projected, i) => {
        const at = indexPath(childPath(path, 'sources'), i)
        return [
          checkItems(objectAt(projected, 'secret'), childPath(at, 'secret')),
          checkItems(objectAt(projected, 'configMap'), childPath(at, 'configMap')),
          checkDownward(objectAt(projected, 'downwardAPI'), childPath(at, 'downwardAPI')),
        ].flat()
      })
    default:
      return []
  }
}

const checkItems = (content: ValueObject, path: string): FieldError[] =>
  objectsAt(content, 'items').flatMap((item, i) => {
    const at = indexPath(childPath(path, 'items'), i)
    const errors = stringAt(item, 'key') === '' ? [fieldRequired(childPath(at, 'key'))] : []
    return errors.concat(checkItemPath(item, at))
  })

const checkItemPath = (item: ValueObject, path: string): FieldError[] => {
  const at = childPath(path, 'path')
  const text = stringAt(item, 'path')
  return text === '' ? [fieldRequired(at)] : checkRelativePath(text, at)
}

const checkDownward = (content: ValueObject, path: string): FieldError[] =>
  objectsAt(content, 'items').flatMap((item, i) => {
    const at = indexPath(childPath(path, 'items'), i)
    const field = objectOrNone(item, 'fieldRef')
    const errors = checkItemPath(item, at)
    if (field !== undefined) errors.push(...checkFieldRef(field, VOLUME_FIELDS, childPath(at, 'fieldRef')))
    return errors
  })
