// The file by which kubectl and all other clients find the server and prove who they are.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { decodeYaml } from '../codec/yaml-decode.js'
import { encodeYaml } from '../codec/yaml-encode.js'
import { isObject, type Value, type ValueObject } from '../meta/value.js'

export interface Access {
  readonly server: string
  /** PEM; absent for plain http. */
  readonly ca?: string | undefined
  readonly client?: { readonly cert: string; readonly key: string } | undefined
  readonly token?: string | undefined
}

const NAME = 'binnacle'

export function kubeconfigOf({ server, ca, client, token }: Access): ValueObject {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: NAME, cluster: { server, ...(ca && { 'certificate-authority-data': base64(ca) }) } }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME } }],
    'current-context': NAME,
    users: [
      {
        name: NAME,
        user: {
          ...(client && { 'client-certificate-data': base64(client.cert), 'client-key-data': base64(client.key) }),
          ...(token && { token }),
        },
      },
    ],
  }
}

export const printKubeconfig = (access: Access): string => encodeYaml(kubeconfigOf(access))

/** Writes a file of its own. */
export async function writeKubeconfig(path: string, access: Access): Promise<void> {
  await replaceFile(path, printKubeconfig(access))
}

/** Adds the server to a kubeconfig that may hold others, and makes it the current one. */
export async function mergeKubeconfig(path: string, access: Access): Promise<void> {
  const ours = kubeconfigOf(access)
  const theirs = await readConfig(path)
  const merged: ValueObject = { ...theirs, ...ours }
  for (const list of ['clusters', 'contexts', 'users'] as const) {
    const others = entries(theirs[list]).filter(entry => entry['name'] !== NAME)
    merged[list] = [...others, ...entries(ours[list])]
  }
  await replaceFile(path, encodeYaml(merged))
}

const entries = (list: Value | undefined): ValueObject[] => (Array.isArray(list) ? list.filter(isObject) : [])

async function readConfig(path: string): Promise<ValueObject> {
  try {
    const { value } = decodeYaml(await readFile(path))
    return isObject(value) ? value : {}
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
}

/** In one move, so that nobody ever reads half of it; it holds a key, so that nobody else reads it at all. */
async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(`${path}.new`, text, { mode: 0o600 })
  await rename(`${path}.new`, path)
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')
