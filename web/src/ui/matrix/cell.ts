export interface Cell {
  readonly row: number;
  readonly col: number;
}
