// Data of a format that is not named: as kube-apiserver's decoder recognizes it, JSON begins with a brace, and everything else
// is YAML.
import type { Decoded } from './decoded.js'
import { decodeJson } from './json.js'
import { decodeYaml } from './yaml.js'

/** Throws a CodecError. */
export const decodeRecognized = (bytes: Buffer): Decoded => (isJson(bytes) ? decodeJson(bytes) : decodeYaml(bytes))

/** Whether the first character that is no space is a brace. */
export const isJson = (bytes: Buffer): boolean => /^\s*\{/.test(bytes.toString('latin1', 0, 4096))
