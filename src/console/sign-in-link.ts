/** The URL that signs in with a code. The code is in the fragment, which browsers send to no server. */
export const signInLink = (url: string, code: string): string => `${url}/console/#code=${code}`
