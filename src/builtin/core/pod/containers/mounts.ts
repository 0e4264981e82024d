// How a container sees the volumes of its pod: mounted in a directory, or as a block device.
import {
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotFound,
  indexPath,
} from '../../../../meta/errors/field-errors.js'
import { has, objectAt, objectsAt, stringAt } from '../../../../meta/values/access.js'
import type { ValueObject } from '../../../../meta/values/value.js'
import { checkOneOf } from '../../../common/field-checks.js'
import { required, run } from '../../../common/rules.js'
import { checkRelativePath } from '../../volume-sources.js'

/** The volumes of a pod, by name: whether each can be a block device, as those of claims can. */
export type PodVolumes = ReadonlyMap<string, boolean>

export const checkMountsAndDevices = (container: ValueObject, volumes: PodVolumes, path: string): FieldError[] => [
  ...checkMounts(container, volumes, path),
  ...checkDevices(container, volumes, path),
]

// ---- mounts

function checkMounts(container: ValueObject, volumes: PodVolumes, path: string): FieldError[] {
  const paths = new Set<string>()
  const devices = objectsAt(container, 'volumeDevices')
  const deviceNames = new Set(devices.map(device => stringAt(device, 'name')))
  const devicePaths = new Set(devices.map(device => stringAt(device, 'devicePath')))
  return objectsAt(container, 'volumeMounts').flatMap((mount, i) => {
    const at = indexPath(childPath(path, 'volumeMounts'), i)
    const [namePath, mountPathAt] = [childPath(at, 'name'), childPath(at, 'mountPath')]
    const [name, mountPath] = [stringAt(mount, 'name'), stringAt(mount, 'mountPath')]
    const errors = run([required('name')], mount, undefined, at)
    if (!volumes.has(name)) errors.push(fieldNotFound(namePath, name))
    errors.push(...run([required('mountPath')], mount, undefined, at))
    if (paths.has(mountPath)) errors.push(fieldInvalid(mountPathAt, mountPath, 'must be unique'))
    paths.add(mountPath)
    if (deviceNames.has(name)) errors.push(fieldInvalid(namePath, name, 'must not already exist in volumeDevices'))
    if (devicePaths.has(mountPath)) {
      errors.push(fieldInvalid(mountPathAt, mountPath, 'must not already exist as a path in volumeDevices'))
    }
    // kube-apiserver's errors about what follows name the list, not the mount.
    const list = childPath(path, 'volumeMounts')
    return errors.concat(
      checkSubPaths(mount, list, at),
      checkPropagation(mount, container, `${list}.mountPropagation`),
      checkRecursiveReadOnly(mount, `${list}.recursiveReadOnly`),
    )
  })
}

function checkSubPaths(mount: ValueObject, list: string, at: string): FieldError[] {
  const [subPath, expression] = [stringAt(mount, 'subPath'), stringAt(mount, 'subPathExpr')]
  const errors = subPath === '' ? [] : checkRelativePath(subPath, `${list}.subPath`)
  if (expression === '') return errors
  if (subPath !== '') {
    errors.push(fieldInvalid(`${at}.subPathExpr`, expression, 'subPathExpr and subPath are mutually exclusive'))
  }
  return [...errors, ...checkRelativePath(expression, `${list}.subPathExpr`)]
}

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None']

function checkPropagation(mount: ValueObject, container: ValueObject, path: string): FieldError[] {
  if (!has(mount, 'mountPropagation')) return []
  const errors = checkOneOf(stringAt(mount, 'mountPropagation'), PROPAGATIONS, path)
  const isPrivileged = objectAt(container, 'securityContext')['privileged'] === true
  if (stringAt(mount, 'mountPropagation') !== 'Bidirectional' || isPrivileged) return errors
  const why = 'Bidirectional mount propagation is available only to privileged containers'
  return [...errors, fieldForbidden(path, why)]
}

const RECURSIVE_MODES = ['Disabled', 'Enabled', 'IfPossible']

function checkRecursiveReadOnly(mount: ValueObject, path: string): FieldError[] {
  if (!has(mount, 'recursiveReadOnly')) return []
  const mode = stringAt(mount, 'recursiveReadOnly')
  if (mode === 'Disabled') return []
  if (!RECURSIVE_MODES.includes(mode)) return checkOneOf(mode, RECURSIVE_MODES, path)
  const propagation = stringAt(mount, 'mountPropagation')
  const errors: FieldError[] = []
  if (mount['readOnly'] !== true) errors.push(fieldForbidden(path, 'may only be specified when readOnly is true'))
  if (propagation !== '' && propagation !== 'None') {
    errors.push(fieldForbidden(path, 'may only be specified when mountPropagation is None or not specified'))
  }
  return errors
}

// ---- block devices

function checkDevices(container: ValueObject, volumes: PodVolumes, path: string): FieldError[] {
  const [names, paths] = [new Set<string>(), new Set<string>()]
  const mounts = objectsAt(container, 'volumeMounts')
  const mountNames = new Set(mounts.map(mount => stringAt(mount, 'name')))
  const mountPaths = new Set(mounts.map(mount => stringAt(mount, 'mountPath')))
  return objectsAt(container, 'volumeDevices').flatMap((device, i) => {
    const at = indexPath(childPath(path, 'volumeDevices'), i)
    const [namePath, pathAt] = [childPath(at, 'name'), childPath(at, 'devicePath')]
    const [name, devicePath] = [stringAt(device, 'name'), stringAt(device, 'devicePath')]
    const errors = run([required('name')], device, undefined, at)
    if (names.has(name)) errors.push(fieldInvalid(namePath, name, 'must be unique'))
    const isClaim = volumes.get(name)
    if (isClaim === undefined) errors.push(fieldNotFound(namePath, name))
    if (isClaim === false) {
      const why = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode'
      errors.push(fieldInvalid(namePath, name, why))
    }
    errors.push(...run([required('devicePath')], device, undefined, at))
    if (paths.has(devicePath)) errors.push(fieldInvalid(pathAt, devicePath, 'must be unique'))
    if (devicePath.split('/').includes('..')) {
      errors.push(fieldInvalid(pathAt, devicePath, "can not contain backsteps ('..')"))
    } else paths.add(devicePath)
    if (mountNames.has(name)) errors.push(fieldInvalid(namePath, name, 'must not already exist in volumeMounts'))
    if (mountPaths.has(devicePath)) {
      errors.push(fieldInvalid(pathAt, devicePath, 'must not already exist as a path in volumeMounts'))
    }
    if (name !== '') names.add(name)
    return errors
  })
}
