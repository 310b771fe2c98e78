/** No bit of a flags field is set. A plain number, since Discord's flag types have no name for it. */
export const noFlags: number = 0;
