// The volumes of a pod: each has a name and one source.
import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  indexPath,
} from '../../../../meta/errors/field-errors.js'
import { quote } from '../../../../meta/go/go-text.js'
import { checkDnsLabel, checkDnsSubdomain } from '../../../../meta/object/names.js'
import { has, numberOrNone, objectAt, objectOrNone, objectsAt, stringAt } from '../../../../meta/values/access.js'
import { signOf } from '../../../../meta/values/quantity.js'
import type { ValueObject } from '../../../../meta/values/value.js'
import { checkText } from '../../../common/field-checks.js'
import { templateMetadata } from '../../../common/metadata.js'
import { check, each, field, ifSet, oneOf, optional, type Rule, required, run } from '../../../common/rules.js'
import { checkClaimSpec } from '../../persistent-volume-claim.js'
import {
  azureFileRules,
  checkRelativePath,
  checkVolumeSource,
  csiDriver,
  glusterfsRules,
  iscsiRules,
  isPortalTooLong,
  PORTAL_TOO_LONG,
  SHARED_SOURCES,
  storageOsRules,
  type VolumeSources,
} from '../../volume-sources.js'
import { amountOf } from '../containers/container-resources.js'
import { checkFieldRef, checkResourceRef, VOLUME_FIELDS } from '../containers/downward-api.js'
import type { PodVolumes } from '../containers/mounts.js'

export interface CheckedVolumes {
  readonly errors: FieldError[]
  /** The volumes that can be mounted; those with errors are not among them. */
  readonly byName: PodVolumes
}

/** `ofPod` is false for a template, in which the reference of an image may be filled in later. */
export function checkVolumes(spec: ValueObject, path: string, ofPod: boolean, podName: string): CheckedVolumes {
  const sources = ofPod ? SOURCES : TEMPLATE_SOURCES
  const byName = new Map<string, boolean>()
  const errors = objectsAt(spec, 'volumes').flatMap((volume, i) => {
    const at = indexPath(path, i)
    const namePath = childPath(at, 'name')
    const name = stringAt(volume, 'name')
    const own = checkVolumeSource(volume, sources, at)
    if (isPortalTooLong(name, objectAt(volume, 'iscsi'))) own.push(fieldInvalid(namePath, name, PORTAL_TOO_LONG))
    if (podName !== '' && name !== '' && has(volume, 'ephemeral')) own.push(...checkClaimName(podName, name, namePath))
    if (name === '') own.push(fieldRequired(namePath))
    else own.push(...checkText(name, checkDnsLabel, namePath))
    if (byName.has(name)) own.push(fieldDuplicate(namePath, name))
    if (own.length === 0) byName.set(name, has(volume, 'persistentVolumeClaim') || has(volume, 'ephemeral'))
    return own
  })
  return { errors, byName }
}

/** The claim of an ephemeral volume is named after the pod and the volume. */
const checkClaimName = (podName: string, name: string, path: string): FieldError[] => {
  const claim = `${podName}-${name}`
  return checkDnsSubdomain(claim).map(why => fieldInvalid(path, name, `PVC name ${quote(claim)}: ${why}`))
}

// ---- files in volumes

const FILE_MODE = 'must be a number between 0 and 0777 (octal), both inclusive'

const fileMode = (name: string): Rule =>
  check((source, path) => {
    const mode = numberOrNone(source, name)
    if (mode === undefined || (mode >= 0 && mode <= 0o777)) return []
    return [fieldInvalid(childPath(path, name), mode, FILE_MODE)]
  })

/** A relative path that does not start with `..`, which names in volumes use internally. */
function checkFilePath(text: string, path: string): FieldError[] {
  const errors = checkRelativePath(text, path)
  if (text.startsWith('..') && !text.startsWith('../')) {
    errors.push(fieldInvalid(path, text, "must not start with '..'"))
  }
  return errors
}

const filePath: readonly Rule[] = [
  required('path'),
  check((item, path) => checkFilePath(stringAt(item, 'path'), childPath(path, 'path'))),
]

const keyToPath: readonly Rule[] = [required('key'), ...filePath, fileMode('mode')]

const downwardFile: readonly Rule[] = [
  ...filePath,
  check((file, path) => {
    const fieldRef = objectOrNone(file, 'fieldRef')
    const resourceRef = objectOrNone(file, 'resourceFieldRef')
    if (fieldRef !== undefined) {
      const errors = checkFieldRef(fieldRef, VOLUME_FIELDS, childPath(path, 'fieldRef'))
      if (resourceRef === undefined) return errors
      const why = 'fieldRef and resourceFieldRef can not be specified simultaneously'
      return [...errors, fieldInvalid(path, 'resource', why)]
    }
    if (resourceRef === undefined) return [fieldRequired(path, 'one of fieldRef and resourceFieldRef is required')]
    return checkResourceRef(resourceRef, childPath(path, 'resourceFieldRef'), { inVolume: true })
  }),
  fileMode('mode'),
]

/** kube-apiserver's errors about these files name the source, not the item. */
const downwardFiles = check((source, path) =>
  objectsAt(source, 'items').flatMap(file => run(downwardFile, file, undefined, path)),
)

// ---- projected volumes

const TOKEN_MIN_SECONDS = 600
const TOKEN_MAX_SECONDS = 2 ** 32

function checkToken(token: ValueObject, at: string, path: string): FieldError[] {
  const seconds = numberOrNone(token, 'expirationSeconds') ?? 0
  const secondsPath = childPath(at, 'expirationSeconds')
  const errors: FieldError[] = []
  if (seconds < TOKEN_MIN_SECONDS) {
    errors.push(fieldInvalid(secondsPath, seconds, 'may not specify a duration less than 10 minutes'))
  }
  if (seconds > TOKEN_MAX_SECONDS) {
    errors.push(fieldInvalid(secondsPath, seconds, 'may not specify a duration larger than 2^32 seconds'))
  }
  const file = stringAt(token, 'path')
  const filePathOf = childPath(path, 'path')
  return [...errors, ...(file === '' ? [fieldRequired(filePathOf)] : checkFilePath(file, filePathOf))]
}

/** Several sources in one directory: no two files may have one path. */
function checkProjection(projected: ValueObject, path: string): FieldError[] {
  const files = new Set<string>()
  const checkConflict = (file: string, value: string): FieldError[] => {
    if (file === '') return []
    if (files.has(file)) return [fieldInvalid(path, value, 'conflicting duplicate paths')]
    files.add(file)
    return []
  }
  return objectsAt(projected, 'sources').flatMap((source, i) => {
    const at = indexPath(childPath(path, 'sources'), i)
    const errors: FieldError[] = []
    for (const kind of ['secret', 'configMap']) {
      const content = objectOrNone(source, kind)
      if (content === undefined) continue
      const own = childPath(at, kind)
      errors.push(...run([required('name')], content, undefined, own))
      objectsAt(content, 'items').forEach((item, j) => {
        errors.push(...run(keyToPath, item, undefined, indexPath(childPath(own, 'items'), j)))
        errors.push(...checkConflict(stringAt(item, 'path'), stringAt(content, 'name')))
      })
    }
    for (const file of objectsAt(objectAt(source, 'downwardAPI'), 'items')) {
      errors.push(...run(downwardFile, file, undefined, childPath(at, 'downwardAPI')))
      errors.push(...checkConflict(stringAt(file, 'path'), stringAt(file, 'path')))
    }
    const token = objectOrNone(source, 'serviceAccountToken')
    if (token !== undefined) errors.push(...checkToken(token, childPath(at, 'serviceAccountToken'), path))
    if (Object.keys(source).length > 1) {
      errors.push(fieldForbidden(at, 'may not specify more than 1 volume type per source'))
    }
    return errors
  })
}

// ---- claims within a volume

const claimTemplate: readonly Rule[] = [
  field('metadata', templateMetadata),
  check((template, path) => checkClaimSpec(objectAt(template, 'spec'), childPath(path, 'spec'))),
]

// ---- sources

const namedSecret = optional('secretRef', [required('name')])

const sizeLimit = check((source, path) => {
  const limit = amountOf(source, 'sizeLimit')
  if (limit === undefined || signOf(limit) >= 0) return []
  return [fieldForbidden(childPath(path, 'sizeLimit'), 'SizeLimit field must be a valid resource quantity')]
})

const pullPolicy = ifSet('pullPolicy', [oneOf('pullPolicy', ['Always', 'IfNotPresent', 'Never'])])

/** In the order of kube-apiserver's checks: of several sources the first counts. */
const SOURCES: VolumeSources = {
  emptyDir: { rules: [sizeLimit] },
  hostPath: SHARED_SOURCES.hostPath,
  gitRepo: {
    rules: [
      required('repository'),
      check((repository, path) => checkRelativePath(stringAt(repository, 'directory'), childPath(path, 'directory'))),
    ],
  },
  gcePersistentDisk: SHARED_SOURCES.gcePersistentDisk,
  awsElasticBlockStore: SHARED_SOURCES.awsElasticBlockStore,
  secret: { rules: [required('secretName'), fileMode('defaultMode'), each('items', keyToPath)] },
  nfs: SHARED_SOURCES.nfs,
  iscsi: { rules: iscsiRules('must be valid format starting with iqn, eui, or naa', []) },
  glusterfs: { rules: glusterfsRules },
  flocker: SHARED_SOURCES.flocker,
  persistentVolumeClaim: { rules: [required('claimName')] },
  rbd: SHARED_SOURCES.rbd,
  cinder: { rules: [required('volumeID'), namedSecret] },
  cephfs: SHARED_SOURCES.cephfs,
  quobyte: SHARED_SOURCES.quobyte,
  downwardAPI: { secondPath: 'downwarAPI', rules: [fileMode('defaultMode'), downwardFiles] },
  fc: SHARED_SOURCES.fc,
  flexVolume: SHARED_SOURCES.flexVolume,
  configMap: { rules: [required('name'), fileMode('defaultMode'), each('items', keyToPath)] },
  azureFile: { rules: azureFileRules },
  vsphereVolume: SHARED_SOURCES.vsphereVolume,
  photonPersistentDisk: SHARED_SOURCES.photonPersistentDisk,
  portworxVolume: SHARED_SOURCES.portworxVolume,
  azureDisk: SHARED_SOURCES.azureDisk,
  storageos: { rules: [...storageOsRules, namedSecret] },
  projected: { rules: [fileMode('defaultMode'), check(checkProjection)] },
  scaleIO: SHARED_SOURCES.scaleIO,
  csi: {
    rules: [
      csiDriver,
      optional('nodePublishSecretRef', [required('name')]),
      check((source, path) => {
        const secret = stringAt(objectAt(source, 'nodePublishSecretRef'), 'name')
        return secret === '' ? [] : checkText(secret, checkDnsSubdomain, childPath(path, 'name'))
      }),
    ],
  },
  ephemeral: { rules: [required('volumeClaimTemplate'), optional('volumeClaimTemplate', claimTemplate)] },
  image: { rules: [required('reference'), pullPolicy] },
}

const TEMPLATE_SOURCES: VolumeSources = { ...SOURCES, image: { rules: [pullPolicy] } }
