# arguments: --keep-going -q rdparse.folded.gz
# Pictures as text, and the boxes as rows.
flame
flame up number
flame tree
flame up expr | tail -3
flame tree main
flame main picture.png
flame picture.txt
flame main |picture.txt|
flame no/such/folder/picture.svg
color always
flame up number
color auto
threshold 0.5
format tsv
flame
