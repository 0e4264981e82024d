// The fields by which a custom kind can be selected, from its definition.
import { useEffect, useState } from 'preact/hooks'
import { getJson } from '../../api/client.js'
import type { Resource } from '../../api/resource.js'

interface Definition {
  readonly spec: {
    readonly versions: readonly {
      readonly name: string
      readonly selectableFields?: readonly { readonly jsonPath: string }[]
    }[]
  }
}

/** Empty for built-in kinds, and where the user may not read the definition. */
export function useDeclaredFields({ group, name, version }: Resource): readonly string[] {
  const [fields, setFields] = useState<readonly string[]>([])
  useEffect(() => {
    if (!group.includes('.') || group.endsWith('.k8s.io')) return
    const controller = new AbortController()
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}.${group}`
    getJson<Definition>(path, { signal: controller.signal }).then(
      ({ spec }) => {
        const found = spec.versions.find(each => each.name === version)
        setFields((found?.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, '')))
      },
      () => undefined,
    )
    return () => controller.abort()
  }, [group, name, version])
  return fields
}
