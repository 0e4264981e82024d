// The namespaces there are, kept by a watch, and the one that the user works in ('' is all of them).
import { signal } from '@preact/signals'
import { listWatch } from '../api/list-watch.js'
import type { ObjectMeta } from '../api/resource.js'

const KEY = 'binnacle.console.namespace'

/** Sorted names. Empty where the user may not list namespaces: then one can be typed. */
export const namespaces = signal<readonly string[]>([])

/** The namespace that the last view was in: the start of the next one. */
export const lastNamespace = signal(localStorage.getItem(KEY) ?? '')

export function rememberNamespace(namespace: string): void {
  lastNamespace.value = namespace
  localStorage.setItem(KEY, namespace)
}

interface MetaList {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string }
  readonly items: readonly { readonly metadata: ObjectMeta }[]
}

export function followNamespaces(until: AbortSignal): void {
  const names = new Set<string>()
  const publish = (): void => {
    namespaces.value = [...names].toSorted()
  }
  const selection = {
    path: '/api/v1/namespaces',
    accept:
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  }
  void listWatch<MetaList, { metadata: ObjectMeta }>(
    selection,
    {
      page: (list, { first, last }) => {
        if (first) names.clear()
        for (const { metadata } of list.items) names.add(metadata.name)
        if (last) publish()
      },
      event: ({ type, object }) => {
        if (type === 'BOOKMARK') return
        if (type === 'DELETED') names.delete(object.metadata.name)
        else names.add(object.metadata.name)
        publish()
      },
    },
    until,
  )
}
