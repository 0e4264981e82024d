// Reading and writing single objects.
import { getJson, getText, query, request } from './client.js'
import type { ApiObject } from './resource.js'

/** Names the console as the manager of fields that it writes, unless the user chooses another name. */
export const FIELD_MANAGER = 'binnacle-console'

export interface WriteOptions {
  readonly dryRun?: boolean
  readonly fieldManager?: string
  readonly force?: boolean
}

const writeQuery = ({ dryRun = false, fieldManager = FIELD_MANAGER, force = false }: WriteOptions): string =>
  query({ fieldValidation: 'Strict', fieldManager, dryRun: dryRun ? 'All' : undefined, force })

/** Writes send and answer YAML, whose numbers keep all of their digits. */
const YAML = { contentType: 'application/yaml', accept: 'application/yaml' }

export const getObject = (path: string, signal?: AbortSignal): Promise<ApiObject> =>
  getJson<ApiObject>(path, { signal })

export const getYaml = (path: string, signal?: AbortSignal): Promise<string> =>
  getText(path, { accept: 'application/yaml', signal })

/** Answers the object as the server wrote it, or would write it. */
export const createYaml = (collection: string, yaml: string, options: WriteOptions = {}): Promise<string> =>
  getText(collection + writeQuery(options), { method: 'POST', body: yaml, ...YAML })

export const replaceYaml = (path: string, yaml: string, options: WriteOptions = {}): Promise<string> =>
  getText(path + writeQuery(options), { method: 'PUT', body: yaml, ...YAML })

export const applyYaml = (path: string, yaml: string, options: WriteOptions = {}): Promise<string> =>
  getText(path + writeQuery(options), {
    method: 'PATCH',
    body: yaml,
    accept: 'application/yaml',
    contentType: 'application/apply-patch+yaml',
  })

export const mergePatch = (path: string, patch: unknown, options: WriteOptions = {}): Promise<ApiObject> =>
  getJson<ApiObject>(path + writeQuery(options), {
    method: 'PATCH',
    body: patch,
    contentType: 'application/merge-patch+json',
  })

export interface DeleteOptions {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly gracePeriodSeconds?: number
  readonly uid?: string
}

export async function deleteObject(path: string, options: DeleteOptions = {}): Promise<void> {
  const { uid, ...rest } = options
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...rest, ...(uid && { preconditions: { uid } }) }
  await request(path, { method: 'DELETE', body })
}
