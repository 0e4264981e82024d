// Files of one volume that lie at the same path, or one below the other: warnings about them.
import { quote } from '../../../../meta/go/go-text.js'
import { objectAt, objectOrNone, objectsAt, stringAt } from '../../../../meta/values/access.js'
import type { ValueObject } from '../../../../meta/values/value.js'

interface FileOf {
  readonly path: string
  /** Where the file comes from, in a projected volume. */
  readonly source: string
}

export const overlappingPathWarnings = (spec: ValueObject): string[] =>
  objectsAt(spec, 'volumes').flatMap(volume => {
    const name = stringAt(volume, 'name')
    const warn = (of: string, overlaps: readonly string[]): string[] =>
      overlaps.map(overlap => `volume ${quote(name)} (${of}): overlapping paths: ${overlap}`)
    const [configMap, secret] = [objectAt(volume, 'configMap'), objectAt(volume, 'secret')]
    return [
      warn(`ConfigMap ${quote(stringAt(configMap, 'name'))}`, overlapsOf(filesOf(configMap))),
      warn(`Secret ${quote(stringAt(secret, 'secretName'))}`, overlapsOf(filesOf(secret))),
      warn('DownwardAPI', overlapsOf(filesOf(objectAt(volume, 'downwardAPI')))),
      projectedWarnings(objectAt(volume, 'projected'), name, overlaps => warn('Projected', overlaps)),
    ].flat()
  })

function projectedWarnings(
  projected: ValueObject,
  name: string,
  warn: (overlaps: readonly string[]) => string[],
): string[] {
  const files: FileOf[] = []
  return objectsAt(projected, 'sources').flatMap(source => {
    if (Object.keys(source).length === 0) return [`volume ${quote(name)} (Projected) has no sources provided`]
    const own = projectedFiles(source)
    return own.flatMap(file => warn(overlapsWith(file, files)))
  })
}

function projectedFiles(source: ValueObject): FileOf[] {
  const named = (kind: string, label: string): FileOf[] => {
    const content = objectAt(source, kind)
    return filesOf(content, `${label} ${quote(stringAt(content, 'name'))}`)
  }
  const token = objectOrNone(source, 'serviceAccountToken')
  return [
    ...named('configMap', 'ConfigMap'),
    ...named('secret', 'Secret'),
    ...filesOf(objectAt(source, 'downwardAPI'), 'DownwardAPI'),
    ...(token === undefined ? [] : [fileAt(stringAt(token, 'path'), 'ServiceAccountToken')]),
  ]
}

const fileAt = (path: string, source: string): FileOf => ({ path: path.replace(/\/+$/, ''), source })

const filesOf = (content: ValueObject, source = ''): FileOf[] =>
  objectsAt(content, 'items').map(item => fileAt(stringAt(item, 'path'), source))

function overlapsOf(files: readonly FileOf[]): string[] {
  const seen: FileOf[] = []
  return files.flatMap(file => overlapsWith(file, seen))
}

/** Every file is compared with all before it; a volume with more files than this is compared only so far. */
const MAX_COMPARED = 200

/** The overlaps of a file with those before it, to which it is added. */
function overlapsWith(file: FileOf, seen: FileOf[]): string[] {
  if (seen.length >= MAX_COMPARED) return []
  const found = file.path === '' ? [] : seen.filter(other => other.path !== '' && areNested(file.path, other.path))
  seen.push(file)
  return found.map(other => `${printFile(file)} with ${printFile(other)}`)
}

const areNested = (a: string, b: string): boolean => `${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`)

const printFile = ({ path, source }: FileOf): string => (source === '' ? quote(path) : `${quote(path)} (${source})`)
